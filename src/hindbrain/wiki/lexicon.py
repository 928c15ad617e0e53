"""What is known of words: which say nothing of a topic, which may only be part of one, which name a technology, and how it is
written.

Everything is in lower case and without marks on letters, as `entities.bare` makes words. English, German and Spanish.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hindbrain.recall.words import STOP_WORDS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GERMAN: Final = """
    ab aber ach alle allem allen aller allerdings alles als also alte altem alten alter altes am an andere anderem anderen
    anderer anderes auch auf aus ausserdem bald bei beide beiden beim bereits besser bestimmt bin bis bisher bist bitte bleibt
    bleiben brauchen braucht bringt da dabei dafuer dagegen daher damit danach daneben dann daran darauf darf darin darum das
    dass davon davor dazu dein deine dem den denn der deren des deshalb dessen dich die dies diese diesem diesen dieser dieses
    dir direkt doch dort drin du duerfen durch durchs eben ebenfalls eh eher ein eine einem einen einer eines einfach einmal
    er erst erste ersten erstmal es etwa etwas euch euer eure fast fertig fuer ganz gar geaendert gegen geht gehen gehoert
    gemacht genau genug gerade gern gerne gibt gilt gleich glaub glaube gut gute guten hab habe haben halt hast hat hatte
    hatten heisst hier hin hinten ich ihm ihn ihnen ihr ihre ihrem ihren ihres im immer in ins inzwischen irgendwann ist ja je
    jede jedem jeden jeder jedes jemand jetzt kann kannst kein keine keinem keinen keiner kommt kommen koennen koennt koennte
    kuenftig lange lassen laesst laeuft laufen lieber liegt lag mach mache macht machen mal man manchmal max mehr mein meine
    meinem meinen meist mich mir mit mittlerweile moechte muss muessen musst nach nachher naemlich nee nehmen nein neu neue
    neuem neuen neuer neues nicht nichts nie niemals niemand nimm nimmt nirgends noch nun nur ob oben oder ohne ok per rein
    runter schon schuld sehr sei seid sein seine seinem seinen seit selbst sich sicher sie sieht sind so sobald sogar soll
    sollen sollte sollten somit sondern sonst soweit sowieso spaeter statt stattdessen steht stehen stets trotz trotzdem tun
    tut ueber ueberall uebrigens um und uns unser unsere unserem unseren unten unter viel viele vielleicht vom von vor vorher
    waehrend war waren warum was weg wegen weil weiter weiterhin welche welcher wenig weniger wenn wer werde werden wie wieder
    will wir wird wirst wo wollen wollte womit wurde wurden wuerde zu zuerst zum zur zurueck zwar zwei zwischen drei vier
    fuenf sechs sieben acht neun zehn eins montag dienstag mittwoch donnerstag freitag samstag sonntag woche wochen tag tage
    tagen jahr jahre monat monate stunde stunden minute minuten sekunde sekunden uhr ende anfang mitte moment zeit mal male
    januar februar maerz april mai juni juli august september oktober november dezember ding dinge sache sachen leute teil
    stueck fall faelle grund weise art ablauf rest menge stelle frage problem murks uebergang herr herrn frau gefummel gehen
    gerade letzte letzten naechste naechsten frueh spaet heute gestern morgen wochenende aenderung geschichte rueckfrage
    untergrenze offen merk denk fragen frag
"""
_SPANISH: Final = """
    a acaba acabo ademas ahi ahora al algo alguien algun alguna algunas alguno algunos alli ambos ante antes aparte apenas
    aqui asi aun aunque bajo bastante bien cada casi cerca claro como con contra cual cuales cualquier cuando cuanto cuatro de
    debe deben decir deja dejar dejame dejamos del demas dentro desde despues dia dias dice donde dos durante el ella ellas
    ello ellos empezar en encima enseguida entonces entre era eran eres es esa esas ese eso esos esta estaba estaban estamos
    estan estar estas este esto estos estoy fue fuera fueron gracias gran grande ha habia habla hablar hace hacen hacer hacia
    hago han has hasta hay haya he hecho hemos hoy igual incluso ir jamas junto la las le les lleva llevan llevar lo los luego
    manana mas me medio mejor menos mes meses mi mientras mis mismo misma momento mucha muchas mucho muchos mudamos murio muy
    nada nadie ni ningun ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nueva nuevas nuevo nuevos nunca o
    os otra otras otro otros para parece pasa pasado pasamos pasar pero poca poco podemos poner ponemos pon por porque posible
    primero primera prefiero pronto pueda puede pueden pues que queda quedan quede quedo queremos quien quiero quita sale se
    sea segun seguir semana semanas ser si siempre sigue sin sino sobre sola solo somos son su sus tal tambien tampoco tan
    tanta tanto tarde te tenemos tener tengo ti tiene tienen tiramos toda todas todavia todo todos tras tres tu tus un una
    unas uno unos usa usamos usar usted va vale vamos van varias varios veces venga venia ver vez vieja viejas viejo viejos
    voy vosotros y ya yo cinco seis siete ocho nueve diez cosa cosas forma manera parte caso casos lunes martes miercoles
    jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ano
    anos hora horas minuto minutos segundo segundos final finales ultimo ultima aviso gente casa duda pendiente apunto mirar
    creo hay sera seria estado falta
"""
# Verbs in their first form, and what is made of them by s, ed, ing; adjectives, adverbs: they say how, never of what.
_VERBS: Final = """
    accept add adjust afford agree aim allow annotate answer appear apply approve arrive ask assume attach avoid bear become
    begin believe belong bother break bring bump buy call cancel carry catch cause change check choke choose clean clear come
    compare complain confirm consider consist consult contain continue copy cost count cover create cut deal decide declare
    define delete deliver depend describe deserve detect die differ disable discard discuss do double drift drop edit embed
    enable encourage end enforce ensure enter escape exist expect explain expose extend fail fall favor feel fetch fill find
    finish fit fix follow forbid forget format freeze gain get give go grow guess handle hang happen hate hear help hide hit
    hold hook hope identify ignore imply improve include increase insist install intend introduce invent keep kill know lack
    land last launch lead learn leave let lie like limit listen live look loosen lose love lower maintain make manage match
    matter mean measure meet mention merge miss move must name need note notice obey occur offer omit open outgrow own paste
    pay pick pin place plan play please point post prefer prepare present press prevent print proceed produce protect prove
    provide pull push put quit raise reach read realize receive recommend reduce refer refuse reject relax rely remain
    remember remove rename renew repeat replace represent require respect rest return reuse revert rewrite rise rotate run
    save say search see seem select send separate set settle ship show shrink shut sign simplify sit skip solve sort sound
    speak specify spend split squash stand start state stay stick stop strip struggle stuck suffer suggest suit supply suppose
    switch take talk tell tend think throw tie touch track treat trust try turn type understand undo update upgrade use verify
    wait wake want warn watch wear win wipe wish wonder work worry wrap write
"""
_IRREGULAR: Final = """
    am are arose ate aware became become began begun bound broke broken brought built bought came caught chose chosen cost cut
    did died done drawn drew driven drove fell felt fed flew forgot forgotten fought found froze frozen gave given gone gets
    got gotten grew grown had held hid hidden hung kept knew known laid lain lay led left lent lost made meant met outgrew
    paid ported put ran risen rose said sat saw seen sent set shaken shook shot shown shut slept sold spent split spoke spoken
    stood stuck swore taken taught threw thrown told took tore torn understood went woken wore worn won written wrote ought
    shall may might dying lying tying running setting putting cutting getting letting hitting splitting stopping dropping
    planning shipping wrapping skipping
"""
_HOW: Final = """
    able above absolute absolutely accidentally acceptable across actual actually additional afaik afterwards again ago ahead
    alive almost alone along already alright also although always another anybody anyhow anymore anyone anything anyway
    anywhere apart apparently approximately aside asap automatic automatically available away back bad badly barely basic
    basically beforehand behind best better beyond big bigger biggest blind brief briefly broken btw careful carefully certain
    certainly clean clear clearly close closely cold common complete completely constantly correct correctly currently daily
    dead deep deliberate deliberately different differently difficult directly double due early easier easily easy either else
    elsewhere empty enough entire entirely equal especially even eventually every everybody everyone everything everywhere
    exact exactly exotic expensive explicit explicitly extra extremely fair fairly false far fast faster few final finally
    fine first five four following fond forever former formerly forward free frequent frequently fresh full fully further
    future general generally genuine given good gone grateful great half halfway happy hard hardly heavily heavy hence high
    higher highly hopefully hot hourly however huge immediate immediately important impossible independent indeed initial
    initially instead internal internally just kind kindly large larger largest last late lately later latest latter lazy
    least less likely little local locally long longer loose loosely loud low lower main mainly major manual manually many max
    maximum maybe mean meanwhile mere merely mid min minimal minimum minor modern monthly more moreover most mostly much
    mutual name namely near nearly neat necessary neither never nevertheless new newer newest next nice nightly nine nobody
    none nonetheless nope normal normally nothing now nowhere obvious obviously occasional odd off often ok okay old older
    oldest once one ones only onto open opposite optional ordinary original originally otherwise outside overall own
    particular partly past pending perfect perhaps permanent personal personally plain plainly plenty plus poor possible
    possibly potential practically precise precisely prefer preferably present pretty previous previously primarily primary
    prior private probably proper properly public pure purely quick quickly quiet quite random rare rarely rather ready real
    really reasonable recent recently regardless regular regularly related relevant reliable remaining right rough roughly
    safe safely same second secondary seldom sensible separate separately serious seriously seven several shared short shorter
    shortly similar similarly simple simply since single six slight slightly slow slower slowly small smaller so solely
    somebody somehow someone something sometime sometimes somewhat somewhere soon sooner sorry special specific specifically
    stable standard static still straight strange strict strictly strong strongly stupid subtle such sudden suddenly
    sufficient suitable sure surely ten terrible thereby therefore thin third thorough though three through throughout thus
    tight till tiny today together tomorrow tonight too total totally true truly twice two typical typically ugly under
    unfortunately unique unless unlike unlikely until upfront upper upwards urgent useful useless usual usually various vast
    very via visible weekly weird well whatever whenever whereas whereupon wherever whether whichever while whole why wide
    widely wise within without worse worst worth would wrong yesterday yet young zero eight eleven twelve hundred thousand
    million silly hey hi hello thanks thank thx pls fyi imo oh ah hm hmm nah yeah yep yes no nowadays whoever nor
    multithreaded wobbly stuck unwilling afraid dear exotic parked signed registered named supported expected required allowed
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays january february
    march april june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec morning
    evening afternoon night noon midnight summer autumn winter weekend christmas easter
"""
# Nouns that name nothing on their own, though they may be the head of what does ("compose file", "release manager").
_HEADS: Final = """
    hand hands keys events comma amount answer app application approach area aspect attempt attempts base basis behaviour
    behavior bit block body box bug bunch case cases chance change changes child choice class clause code colleague colleagues
    command comment comments complexity concern condition content contents context copy core count couple data day days deal
    default definition department description detail details developer developers difference direction directory document
    effect effort element end entry environment error errors event evidence example exception experience expression fact
    factor fault feature features field file files fix flag flow folder form format function functions goal group guy habit
    half head help hint hour hours idea ideas impact info information input instance issue issues item items job jobs key kind
    language layer length level life line lines link list lists location log logic look lot machine man manager matter meaning
    member members message messages method methods mind minute minutes mistake mode model moment money month months name names
    number numbers object office one option options output owner package page pages pair parameter part parts party patch path
    pattern people period person phase piece place plan point points policy position possibility problem problems procedure
    process product program programme progress project projects property purpose question questions range rate ratio reader
    reason reasons record reference reply repo repository request requirement result results review role room root round row
    rows rule rules run sake sample scenario scope script second seconds section self sense sentence series service services
    set setting settings setup shape share side sign situation size solution someone sort source space spot stack stage
    standard start state statement status step steps stop story string structure student stuff style subject support symbol
    system systems table tables target task tasks team teams term terms test testing tests text texts thing things thought
    time times title tool tools top topic total track trick trouble truth type types unit usage use user users value values
    variable version versions view warning way ways week weeks while word words work world worry year years percent euro
    dollar archivo archivos carpeta codigo comando cambio cambios datos error fecha fichero funcion hoja linea lista nombre
    numero numeros pagina paginas persona problema proceso programa proyecto prueba pruebas punto regla resultado resto
    servicio sistema tabla tablas texto textos tipo tipos valor valores version versiones codigo lado nivel modo tema temas
    trabajo usuario usuarios veces aufgabe aufgaben beispiel bereich code datei dateien daten ergebnis fehler feld form format
    funktion grund gruppe idee klasse klassen liste listen name namen nummer ordner ort person projekt projekte punkt seite
    seiten skript system tabelle test tests text texte thema titel typ typen version versionen weg wert werte wort worte zahl
    zahlen zeile zeilen ziel
"""
# Common nouns of the trade: two statements about one of these are a topic; of other nouns three.
_TRADE: Final = """
    development accessibility alarm alert alerting alert analytics annotation architecture archive artifact asset audit
    authentication authorization backend backfill backoff backup bandwidth batch benchmark billing branch breakpoint broker
    browser bucket budget build bundle cache caching certificate changelog checklist checkout checkpoint cli client cluster
    cluster codebase codec colour commit compiler compose compression concurrency config configuration connection container
    contract controller cookie corpus coverage crash credential cron currency cutover dashboard database dataset deadline
    deadlock debugger dependency deploy deployment design docs docstring documentation domain downtime driver editor email
    emulator encoding encryption endpoint environment escalation exporter extension export fake fallback feature firmware
    firewall fixture font footer formatter formatting framework frontend gateway header holiday hook hosting hotfix i18n
    import indentation index ingress installer integration interface interpreter invoice kernel keyboard label latency layout
    ledger library licence license linter linting locale localization lock lockfile logging login logo mapping memory menu
    metadata metric middleware migration mirror mock module monitoring monorepo naming namespace network notebook notification
    observability onboarding operator outage pagination paging parser partition password payload payment permission
    persistence pipeline plugin policy pool pooling port prefix pricing privacy production profiling prompt proxy quota queue
    rebase receipt redirect refactoring refresh refund region regression release renderer replica replication repository
    report reservation resolver retention retry rollback rollout router routing runbook runner runtime sandbox schedule
    scheduler schema screenshot sdk search secret security sensor server serialization session shader shard shortcut signature
    slot snapshot socket sprite staging standup storage streaming stylesheet subscription subnet submodule supplier suite sync
    syntax tariff telemetry template tenant terminal theme thread throttling ticket timeout timestamp timezone token tolerance
    tooltip tracing transaction translation trigger tutorial typing upload validation vendor venv viewport virtualenv volume
    vpn warehouse webhook widget wiki wiring worker workflow workspace wrapper abrechnung abhaengigkeit anmeldung ansicht
    auslieferung bibliothek datenbank einstellung freigabe handbuch konfiguration kunde kunden menue migration modul
    oberflaeche rechnung schema schluessel schnittstelle sensor speicher spielstand sprache szene szenen uebersetzung umgebung
    verzeichnis vorlage zertifikat zweig shader slot slots prefab prefabs staende albaran albaranes almacen base biblioteca
    cabecera carrito cliente clientes clave comision consulta contenedor contrasena copia dependencia despliegue devolucion
    devoluciones entorno entrega esquema factura facturas firma importe importes migracion migraciones modulo pantalla
    pasarela pedido pedidos permiso plazo producto productos puerto rama reembolso registro repositorio ruta rutas servidor
    sesion traduccion order invoice customer payout shipment
"""

SILENT: Final = STOP_WORDS | _set(_GERMAN) | _set(_SPANISH) | _set(_HOW) | _set(_IRREGULAR)
VERBS: Final = _set(_VERBS)
HEADS: Final = _set(_HEADS)
TRADE: Final = _set(_TRADE)

# How a noun gives itself away, and a verb.
ARTICLES: Final = _set("""
    the a an our my your his her its their this that these those no any some each every all both which whose another der die
    das den dem des ein eine einen einem einer unser unsere unseren kein keine keinen diese dieser dieses diesen im am zum zur
    vom beim ins jede jeder jedes alle el la los las un una unos unas al del su sus nuestro nuestra nuestros nuestras este
    esta estos estas ese esa esos esas cada lo
""")
PREPOSITIONS: Final = _set("""
    of in on for with from by at into via per without about against during between through across under over after before like
    fuer mit von auf aus bei nach ohne gegen ueber unter durch de en con por para sin sobre entre desde hasta and or und oder
    y o
""")
TO_DO: Final = _set("""
    to i we you they he she it don't dont can will should must please never always just not let's lets would could may and
""")
COPULAS: Final = _set("is are was were has have must should can may stays stay lives runs ist sind war hat es son esta estan")
SHORT_FOR: Final = {
    "prod": "production", "db": "database", "config": "configuration", "conf": "configuration",
    "mail": "email", "repo": "repository",
    "dep": "dependency", "cert": "certificate", "auth": "authentication", "doc": "documentation", "doku": "documentation",
    "env": "environment", "dev": "development", "infra": "infrastructure", "lib": "library", "e-mail": "email",
}  # fmt: skip
LANGUAGES: Final = {
    "de": _set("der die das und ist nicht wir den dem ein eine mit auf für auch sind noch nur wenn im zu von bei es sich ich du "
               "bitte mir da beim jetzt immer schon aus nach wird oder war darf kein keine statt über"),
    "es": _set("el la los las de que y en un una es no se por con para lo al del ya hay más nos está son pero como todo si "
               "hasta le su sin solo nunca siempre son está esto esta"),
    "en": _set("the and is to of in a we for it on that with are not be this have i you never always from at or as no by was"),
}  # fmt: skip
# Second halves that make a property of two words, not a thing ("append-only").
QUALITIES: Final = _set("""
    only like based free style in up off down out wide level side time by to on first less friendly aware safe specific ready
    proof driven oriented compatible related heavy long old new sensitive all ish call term end hand
""")
SHOUTED: Final = _set("""
    ok todo id ids ui url urls utc gmt cet mb gb kb tb ms pr prs api apis not and or no yes all any the must never always do
    dont only ip os pc ci cd it qa eta faq asap fyi btw imo afaik wip tbd nb ps vs eod am pm eu us uk usa de es en q1 q2 q3 q4
    gmbh sl sa ltd inc nan khz mhz ghz dpi fps kwh log eol xl ml now why how eur usd cpu ram gpu ssd lan lts mvp hq p1 p2 p3
    dd nie jamas solo
""")
# The shell's own, and what everybody has: no topic because a command begins with it.
SHELL: Final = _set("""
    cd ls rm cp mv cat echo sed awk grep find sudo bash sh zsh env export source mkdir touch kill ps tail head less curl wget
    tar zip unzip chmod chown ssh scp git make python python3 pip npm npx node go run xargs time watch which open man test
    true false set
""")
# What a person does, or is: behind or before a name. Whether `Nuria` is a colleague or a program shows here.
PERSON_AFTER: Final = _set("""
    is has says said wants asked asks here moved owns thinks likes approves approved does did set sets needs macht kuemmert
    hat will sagt meint ist prueft lleva pasa dice quiere es tiene revisa 's
""")
PERSON_BEFORE: Final = _set("""
    ask tell ping with by from called named frag fragt bei von avisar avisa pregunta a con herr frau hi hello hey danke
    thanks
""")


def _table(text: str) -> dict[str, tuple[str, str]]:
    """Blocks of `[tag]` and `Name=form,form; Name; …` -> each form in lower case: (Name, tag)."""
    found: dict[str, tuple[str, str]] = {}
    for block in text.split("[")[1:]:
        tag, _, names = block.partition("]\n")
        for each in " ".join(names.split()).split("; "):
            name, _, forms = each.partition("=")
            found |= dict.fromkeys((name.lower(), *filter(None, forms.split(","))), (name, tag))
    return found


# Names that are words as well count where they are written as names, or as code.
WORDS_TOO: Final = _set("""
    actix alpine arrow astro babel biome black blade boost bootstrap bun can cargo chef chrome clerk cobra codex composer
    consul cursor dagger dart deployer discord drizzle drone echo eigen ember envoy espresso express flux gin glue go hatch
    helm hilt hive hugo hypothesis java julia just lambda linear locust loki looker luigi maestro make maven meson metal
    metabase mise mocha nest nix nomad node notion nox oracle packer pest phoenix polars prefect presto prisma processing
    psalm pulsar puppet r railway rag realm rector redux remix render requests rest rollup room rust safari sentry slack spark
    sphinx splunk spring steam storybook stripe swift tableau teams tempo temporal tox trello twig unity unreal vault velero
    vim whisper windows yarn zap zebra zephyr zoom
""")

TECHNOLOGY: Final = _table(Path(__file__).with_name("technology.txt").read_text("utf-8"))
PAIRS: Final = frozenset(name for name in TECHNOLOGY if " " in name)
