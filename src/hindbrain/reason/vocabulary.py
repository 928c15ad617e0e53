"""Words of English, German and Spanish -> what is known of them: silent, generic, a number, an opposite, a sort, a short form.

What makes two statements be about one thing are the words that are not here.
"""

from __future__ import annotations

from typing import Final

from hindbrain.recall.words import STOP_WORDS

_GERMAN: Final = """
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da dafuer damit
    dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch eben
    ein eine einem einen einer eines einfach er es etwa etwas euch eure fuer ganz gar gibt hab habe haben hast hat hatte hier
    hin ich ihm ihn ihr ihre ihren im immer in ins ist ja jede jedem jeden jeder jedes jetzt kann kannst kein keine keinem
    keinen keiner koennen koennt lassen lieber mal man mehr mein meine meinem mich mir mit muss musst muessen nach nicht
    nichts nie niemals noch nun nur ob oder ohne schon sehr seid sein seine seit selbst sich sie sind so soll sollen sollte
    sondern sonst statt ueber um und uns unser unsere unter vom von vor war waren was weg weil weiter weiterhin welche wenn
    wer werden wie wieder will wir wird wirst wo wurde wurden zu zum zur zwar nehmen nimmt nimm bleibt bleiben ab uebrigens
    inzwischen mittlerweile kommt kommen geht macht machen mach bald halt dazu davon glaub glaube staendig darf duerfen durchs
    gerade genau deren dessen vorher nachher herr herrn frau gegen mittels waehrend wegen trotz
"""
_SPANISH: Final = """
    a al algo ahi ahora ante antes aqui asi aun aunque bajo bien cada casi como con cual cuando de del desde donde dos el ella
    ellos en entre era es esa ese eso esta estaba estan estar estas este esto estos fue gracias ha hace hacer hacia han has
    hasta hay he hemos la las le les lo los mas me mejor mi mientras mis mucho muy nada ni no nos nosotros nuestra nuestras
    nuestro nuestros nunca o otra otro para pero poco por porque pues que quien se sea ser si siempre sin sino sobre solo son
    su sus tal tambien tan tanto te tener tenemos tengo ti tiene tienen toda todas todo todos tu tus un una uno unos usted va
    vale vamos van veces ver vez vosotros voy y ya yo tiramos ponemos pasamos pasa queda sigue dice cosa cosas deja dejamos
    usa usar usamos creo hecho hago pon poner nuevo nueva venga oye senor senora contra segun tras mediante durante
"""
# What every statement about software may say: two that share one of these need not be about one thing.
_GENERIC: Final = """
    use used uses using make makes made run runs running go goes going gone set sets keep keeps kept put take takes want wants
    need needs new old file files code thing things one ones way work works working add adds added change changes changed rule
    rules always never every everything anything nothing everybody nobody please ok okay sure right good fine better best
    still already also too well stay stays instead moved move moves moving switch switched switches drop drops dropped
    dropping remove removed replace replaced first last next week weeks day days month months year years today time times
    since without only even really actually both two three four five six seven eight nine ten all any each project repo app
    stuff bit lot back away left done though because see look give gives got come comes must should would could can may might
    will shall let lets like prefer rather think find say said says tell know mean means try help happen happens start starts
    end ends call calls called show shows read reads write writes written long short small big less least more most enough now
    here there again ever btw hm ah oh yes no not via per etc eg ie than then when where while else off out over under until
    within around about across after before from into onto upon with own self same other another such kind sort part place
    point case fact reason idea problem issue question answer name names named line lines number numbers people person guy
    team bring brings default state support real early late hand hands januar februar maerz april mai juni juli august
    september oktober november dezember january february march june july october december enero febrero marzo abril mayo junio
    julio agosto septiembre octubre noviembre diciembre monday tuesday wednesday thursday friday saturday sunday montag
    dienstag mittwoch donnerstag freitag samstag sonntag lunes martes miercoles jueves viernes sabado domingo woche wochen tag
    tage semana semanas dia dias mes meses ano anos jahr jahre stunde stunden minute minutes minuten minutos second seconds
    sekunden segundos hour hours hora horas mb kb gb ms sec min percent prozent datei dateien archivo archivos codigo projekt
    proyecto regel regeln regla neu neue neuen alt alte nueva viejo eins zwei drei vier fuenf sechs sieben acht neun zehn uno
    dos tres cuatro cinco seis siete ocho nueve diez ende anfang immer nie anyway honestly pretty bitte gern gerne danke
    till leave leaves uhr utc gmt cet cest thanks por favor gut bueno buena listo liste list wollen wuerde quiero queremos mirar
"""


def plain(text: str) -> str:
    """Lower case, and no marks on letters: what people type on whatever keyboard they have."""
    return text.lower().translate(_PLAIN)


_PLAIN: Final = str.maketrans({
    "ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u", "ñ": "n", "à": "a", "è": "e",
    "ç": "c",
    "’": "'", "‘": "'", "“": '"', "”": '"', "–": ",", "—": ",",
})  # fmt: skip

SILENT: Final = frozenset(STOP_WORDS) | frozenset(_GERMAN.split()) | frozenset(_SPANISH.split())
GENERIC: Final = frozenset(_GENERIC.split())

NUMERALS: Final = {
    word: number
    for words, number in (
        ("one eins ein single", 1), ("two twice zwei dos", 2), ("three drei tres", 3), ("four vier cuatro", 4),
        ("five fuenf cinco", 5), ("six sechs seis", 6), ("seven sieben siete", 7), ("eight acht ocho", 8),
        ("nine neun nueve", 9), ("ten zehn diez", 10), ("eleven elf", 11), ("twelve zwoelf doce", 12), ("thirteen dreizehn", 13),
        ("fourteen vierzehn catorce", 14), ("fifteen fuenfzehn quince", 15), ("sixteen sechzehn", 16), ("eighteen achtzehn", 18),
        ("twenty zwanzig veinte", 20), ("forty vierzig cuarenta", 40), ("fifty fuenfzig cincuenta", 50),
        ("thirty dreissig treinta", 30), ("sixty sechzig sesenta", 60), ("hundred hundert cien", 100), ("zero null cero", 0),
    )
    for word in words.split()
}  # fmt: skip


def _sets(*lines: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line.split()) for line in lines)


# Where one of a line stands in one statement and another in the other, they speak of two things.
SORTS: Final = _sets(
    "prod production produktion produccion staging stage dev development entwicklung desarrollo sandbox preprod",
    "frontend backend front back", "ios android web desktop mobile movil", "linux macos windows", "access refresh",
    "unit integration e2e",
    "live test", "internal external public private intern extern interno externo", "client server cliente servidor",
    "python javascript typescript rust golang java kotlin ruby php css sql html", "input output", "eu us asia europe emea apac",
    "logs metrics traces", "upload download", "admin user users", "release debug", "unterwegs daheim", "alpha beta",
    "request response", "minor major patch",
)  # fmt: skip
# How often: two sorts of a thing ("nightly backups"), unless it is said that it changed ("weekly now").
HOW_OFTEN: Final = _sets(
    "nightly daily hourly weekly biweekly monthly quarterly yearly taeglich woechentlich monatlich diario semanal mensual",
)
# Where one of a line stands in one statement and another in the other, they say two things of one.
OPPOSED: Final = HOW_OFTEN + _sets(
    "american british us uk", "leading trailing",
    "long short verbose terse proper full detailed concise brief lang kurz lange kurze ausfuehrlich"
    " knapp largo corto largas cortas detallado breve",
    "early late",
    "soft hard", "quiet verbose loud", "strict lenient loose", "eager lazy", "include exclude",
    "tabs spaces tabulatoren leerzeichen tabuladores tabulaciones espacios", "light dark hell dunkel claro oscuro",
    "singular plural plurals",
    "sync async synchron asynchron",
    "english german spanish french italian castellano catalan italiano portugues italienisch"
    " englisch deutsch spanisch franzoesisch ingles aleman espanol frances american british",
    "upper lower uppercase lowercase grossschreibung kleinschreibung gross klein mayusculas minusculas", "squash rebase",
    "log logarithmic linear", "weekday weekdays weekend weekends werktag werktags werktage wochenende laborables finde",
    "float floats integer integers int decimal cents centimos", "camelcase pascalcase",
    "enabled disabled an aus on off aktiviert deaktiviert activado desactivado",
    "manual automatic manuell automatisch automatico", "single double", "usted tu", "du siezen sie", "always never",
    "mock mocks fake fakes stub stubs", "left right links rechts izquierda derecha", "public private", "before after vor nach",
    "ascending descending", "monolith microservices",
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays",
    "montag dienstag mittwoch donnerstag freitag montags dienstags mittwochs donnerstags freitags",
    "lunes martes miercoles jueves viernes", "named default", "small big large klein gross pequeno grande", "utc local",
)  # fmt: skip
_YEAR: Final = (
    "january januar enero jan", "february februar febrero feb", "march maerz marzo mar", "april abril apr", "may mai mayo",
    "june juni junio jun", "july juli julio jul", "august agosto aug", "september septiembre sep sept",
    "october oktober octubre oct okt", "november noviembre nov", "december dezember diciembre dec dez",
)  # fmt: skip
MONTHS: Final = {month: number for number, months in enumerate(_YEAR, 1) for month in months.split()}
_WEEK: Final = (
    "monday mondays mon montag montags lunes", "tuesday tuesdays tue tues dienstag dienstags martes",
    "wednesday wednesdays wed mittwoch mittwochs miercoles", "thursday thursdays thu thurs donnerstag donnerstags jueves",
    "friday fridays fri freitag freitags viernes", "saturday saturdays samstag samstags sabado sabados",
    "sunday sundays sonntag sonntags domingo domingos",
)  # fmt: skip
WEEKDAYS: Final = {day: number for number, days in enumerate(_WEEK, 1) for day in days.split()}
# Before the name of a month: until when, or to when.
_UNTIL: Final = "by until till in to of end mid early late bis ende mitte anfang nach auf im hasta en a de finales mediados"
UNTIL: Final = frozenset(_UNTIL.split())
_TIMES: Final = {
    "ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "sekunde": 1, "segundo": 1, "min": 60, "minute": 60,
    "minuto": 60, "h": 3600, "hour": 3600, "stunde": 3600, "hora": 3600, "d": 86400, "day": 86400, "tag": 86400, "dia": 86400,
    "week": 604800, "woche": 604800, "semana": 604800, "month": 2592000, "monat": 2592000, "mes": 2592000, "year": 31536000,
    "jahr": 31536000, "ano": 31536000,
}  # fmt: skip


OFTEN: Final = {
    "hourly": 3600, "stuendlich": 3600, "daily": 86400, "nightly": 86400, "taeglich": 86400, "weekly": 604800,
    "woechentlich": 604800, "semanal": 604800, "biweekly": 1209600, "monthly": 2592000, "monatlich": 2592000, "mensual": 2592000,
    "semanales": 604800, "mensuales": 2592000, "diario": 86400, "diaria": 86400, "diarios": 86400, "diarias": 86400,
    "anuales": 31536000, "quarterly": 7776000, "yearly": 31536000, "annually": 31536000, "jaehrlich": 31536000, "anual": 31536000,
}  # fmt: skip


def seconds_in(unit: str) -> float:
    """How long a unit of time is, in whichever form it is written; 0 for what is none."""
    forms = (unit.removesuffix(ending) for ending in ("", "s", "n", "en", "e", "es"))
    return next((float(_TIMES[form]) for form in forms if form in _TIMES), 0.0)
OF: Final = ("for", "of", "fuer", "von", "vom", "der", "des", "de", "del", "para", "por", "per", "pro", "je")
# Two ways to write a word.
SHORT_FOR: Final = {
    "deps": "dependency", "dep": "dependency", "dependencies": "dependency", "db": "database", "datenbank": "database",
    "repo": "repository", "repos": "repository", "prod": "production", "produccion": "production", "produktion": "production",
    "env": "environment", "envs": "environment", "docs": "documentation", "doku": "documentation", "k8s": "kubernetes",
    "pg": "postgres", "postgresql": "postgres", "js": "javascript", "ts": "typescript", "prs": "pr", "dev": "development",
    "config": "configuration", "configs": "configuration", "conf": "configuration", "auth": "authentication", "mail": "email",
    "mails": "email", "emails": "email", "msg": "message", "msgs": "message", "perf": "performance", "infra": "infrastructure",
    "vars": "variable", "stg": "staging", "certs": "certificate", "cert": "certificate",
}  # fmt: skip
