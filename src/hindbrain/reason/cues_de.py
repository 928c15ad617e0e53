"""German: how people say what they decide, want, correct, know and still have to do. Patterns over lower-case text, one
quantifier deep.
"""

from typing import Final

WORDS: Final = (
    "der die das ist nicht wir ich und ein eine mit auf für auch es "
    "noch bitte aber dann sind den dem kein keine von zu im wird haben hab mal"
)

CUES: Final = {
    # cut even without a comma behind
    "soft": r"(?:ok(?:ay)?|und|aber|also|ach|achso|ach so|ah|oh|hm+|naja|übrigens|btw|fyi|ja|jo|genau|alles klar|danke"
    r"|bitte denk dran|denk dran)",
    "filler": r"(?:ok(?:ay)?|also|so|na|naja|hm+|äh+|ähm|ach|achso|ach so|ah|oh|ja|jo|jep|genau|gut|super|prima|klasse"
    r"|perfekt|passt|fein|danke|alles klar|klar|stimmt|und|aber|dann|jetzt|nun|übrigens|btw|nebenbei|fyi|noch was|noch eins"
    r"|noch eine sache|eine sache noch|eins noch|ansonsten|sonst|bitte|halt|eigentlich|moment|stopp?|nein|nee|nö|ne|doch"
    r"|wichtig|merk dir|denk dran|bitte denk dran|vorsicht|achtung|moin|hallo|hi|servus|tach|ehrlich gesagt|wie gesagt"
    r"|apropos|schön|top|cool|verstehe|sehr gut|wunderbar|hey|puh|egal|kurz|zur info|zum stil|noch was zum stil"
    r"|für die zukunft)",
    "question": r"(?:was|warum|wieso|weshalb|wie(?: (?:oft|viel|lange|kann|soll|macht|geht|läuft|ist|war|sieht|würdest"
    r"|willst))|welche[rsnm]?|wer|wo|wann|wohin|woher|kannst du|könntest du|würdest du|könnten wir|sollen wir|sollten wir"
    r"|soll ich|hast du|haben wir|gibt es|gibt's|ist (?:das|es|der|die)\b[^,]*\?|sind (?:die|das|wir)|weißt du|meinst du"
    r"|findest du|kann man|muss man|(?:oder )?(?:ist|sind|wird|kann|soll|sollte|muss|darf|geht|hat|gibt|war|macht|reicht"
    r"|passt) (?:das|es|die|der|du|wir|ich|man|da|denn|so|hier)|geht das|darf ich|zeig|erklär|sag mal|frage"
    r"|keine ahnung (?:ob|wie|warum)|weiß nicht)\b",
    "ask": r"\b(?:kannst du|könntest du|würdest du|was meinst du|was denkst du|weißt du|hast du)\b",
    "maybe": r"\b(?:vielleicht|vermutlich|wahrscheinlich|eventuell|evtl|möglicherweise|könnte(?:n|st)?|theoretisch"
    r"|irgendwann(?: mal)?|eines tages"
    r"|wäre (?:es|das|schön|nett|cool|gut|besser|toll)|wär(?:e)?|würde (?:es|das)|überlege|überlegen|am überlegen"
    r"|nicht sicher|unsicher|ob wir|entweder .{1,60} oder|wünschte|hätte(?:n)? (?:man|wir)|man könnte|wir könnten|tendiere"
    r"|glaub ich$)\b",
    "open": r"\b(?:noch nicht entschieden|keine entscheidung|muss (?:ich )?(?:noch )?(?:drüber |darüber )?nachdenken"
    r"|drüber schlafen|mal sehen|schauen wir mal|offen lassen|kommt drauf an|nur so eine frage|nur neugier|ist mir egal"
    r"|mir egal|lass(?:en wir)? das (?:erst ?mal|offen)|ein andermal|später entscheiden)\b",
    "withdrawn": r"\b(?:ich sag(?:e)? (?:ja )?nicht|ich meine nicht|war nur (?:ein )?(?:spaß|scherz)|nur spaß|scherz"
    r"|kleiner scherz|vergiss es|vergiss das|schon gut|nicht so gemeint|heißt (?:ja )?nicht,? dass)\b",
    "elsewhere": r"\b(?:in meine[rm] (?:letzten|alten|früheren)|mein(?:e[rm]?)? (?:letzte[rn]?|alte[rn]?|frühere[rn]?) (?:job"
    r"|firma|team|arbeitgeber|projekt)|früher (?:haben|hatten|war|mal)|damals|vor jahren|beim alten arbeitgeber"
    r"|bei meinem alten|bei (?:ihm|denen|ihnen) |in seiner firma|in ihrer firma)\b",
    "others": r"^(?:(?:die|der|er|sie) \w+ (?:das |es )?(?:immer|nie|ständig)|die (?:anderen|leute|kollegen)|andere (?:teams"
    r"|leute|firmen)|manche|viele (?:leute|teams)|(?:er|sie) (?:macht|sagt|meint) immer)\b|\b(?:sagt|sagte|meint|meinte"
    r"|behauptet|empfiehlt|schreibt|findet|schlägt vor|gelesen|gehört, dass|angeblich|man solle)\b",
    "momentary": r"\b(?:gerade|grad|im moment|momentan|seit (?:heute|gestern|dem (?:update|deploy|upgrade|merge))"
    r"|heute (?:morgen|früh)|gestern|eben|schon wieder|kaputt|abgestürzt|stürzt|hängt sich|schlägt fehl|fehlgeschlagen"
    r"|bricht ab|geht nicht|schau mal|funktioniert nicht|läuft nicht|kommt nicht|fehler(?:meldung)?|komisch|seltsam|läuft$"
    r"|läuft sofort|sieht (?:gut|komisch|aus)|gemessen|scheint)\b",
    "ack": r"(?:danke|vielen dank|tschüss|ciao|bis (?:morgen|später|dann)|gute nacht|gut gemacht|weiter|mach (?:das|so|mal"
    r"|weiter)|klingt (?:gut|vernünftig)|passt|super|perfekt|ja|genau|bier|feierabend|los|lass uns anfangen|leg los)\b",
    "standing": r"\b(?:verboten|nicht erlaubt|untersagt|wir \w+ hier (?:kein\w*|nie|nicht)|(?:sag|gib) mir (?:vorher|erst) "
    r"|nichts wird \w+|frag(?:t)? .{0,20}(?:bevor|vorher)|wird (?:nichts|nie|nicht) .{0,40}(?:geändert|angefasst|gelöscht"
    r"|committet|gepusht|editiert|verändert)|nichts (?:verloren|zu suchen)|antworte .{0,20}(?:kürzer|auf|knapp|nur|ohne)"
    r"|^neue \w+ (?:kommen|gehen|gehören|landen) |immer(?! noch| wieder| mehr)|nie(?:mals)?|ab (?:jetzt|sofort|heute|nun)"
    r"|von (?:jetzt|nun) an|künftig|zukünftig|in zukunft|für die zukunft|jedes mal|jedesmal|jeweils|grundsätzlich|generell"
    r"|prinzipiell|standardmäßig|ausnahmslos|ohne ausnahme|auf keinen fall|unter keinen umständen|in jedem fall"
    r"|in allen fällen|weiterhin"
    r"|strikt|bitte .{0,40}nicht mehr|nicht mehr \w+en$|wie bisher|keinesfalls|darf(?:st)? (?:nicht|nie|nur|kein\w*)"
    r"|dürfen (?:nicht|nie|nur)|muss (?:immer|stets|unter|bleiben|durch|über)|müssen (?:immer|stets|alle)|stets"
    r"|nur (?:noch )?(?:über|per|mit|nach|via|wenn|in|auf|von|im|bei)|tabu|finger weg|gesperrt|vor jede[rmn]|nach jede[rmn]"
    r"|jede[rsn]? (?:commit|pr|merge|release|änderung|test|migration|datei|funktion|methode|tabelle|branch"
    r"|neue\w*) (?:braucht|bekommt|kriegt|muss|wird|hat|geht)|(?:fasst|rührst|änderst|pushst|löschst|machst|benutzt|nimmst"
    r"|schreibst|committest) du .{0,20}(?:nicht|nie|kein\w*|nur)|(?:fasst|rührt|ändert) .{0,30}(?:nur|niemand|keiner)"
    r"|frag (?:mich |uns )?(?:vorher|erst|zuerst|immer)|ohne rückfrage|ohne zu fragen|vorher fragen|hör auf|niemand (?:fasst"
    r"|ändert|pusht|merged|schreibt)|bleib(?:t|en) (?:unter|unangetastet|eingefroren|draußen|so)|denk(?:t)? (?:bitte )?dran"
    r"|merk dir|wird nie|werden nie|kommt nie|kommen nie|gehört (?:in|nach|unter)|gehören (?:in|nach|unter)|freeze"
    r"|wie (?:immer|gehabt))\b",
    "ban": r"^(?:und |auch |bitte )?kein(?:e|en|er|em)? (?!ahnung|problem|thema|stress|eile|lust|zeit|ding|entscheidung|panik"
    r"|plan\b)[\w`.*@/+äöüß-]+(?: [\w`.*@/()+äöüß-]+)? (?:in|außerhalb|ohne|auf|für|im|mehr|bitte|mit|nach|von|vor|an"
    r"|außer)\b|^(?:und )?(?:nix|nichts) (?:in|auf|an|direkt|ohne|ins|nach)\b",
    "style": r"\b(?:antwort(?:e|en)?|zusammenfassung(?:en)?|erklärung(?:en)?|nachrichten|ton|emojis?|deutsch|englisch|knapp"
    r"|kurz|ausführlich|stichpunkte|sprache|duz\w*|siez\w*|floskeln)\b",
    "polite": r"\bbitte\b",
    "prefer": r"\b(?:ich (?:bevorzuge|mag|liebe|hasse|hab(?:e)? lieber|hätte (?:gern|lieber)|finde .{1,50} (?:besser|schöner"
    r"|lesbarer|hässlich|schlimm|furchtbar|angenehmer|unleserlich)|stehe (?:nicht )?auf|kann .{1,40} nicht (?:leiden"
    r"|ausstehen|ab|lesen|mehr sehen)|bin (?:kein|ein) (?:großer |echter )?(?:fan|freund)|schreibe lieber|arbeite lieber"
    r"|will lieber|nehme lieber|lese lieber|würde lieber|tu mich schwer)|mir (?:ist|sind|wäre|wären) .{1,40} lieber"
    r"|mir (?:gefällt|gefallen|reichen?|liegt|liegen)|(?:kein|nicht so der|großer) (?:fan|freund)|am liebsten|nervt mich"
    r"|nerven mich|geht mir auf|persönlich|lieber .{1,60} als|bin eher)\b",
    "wants": r"\bich (?:hätte|würde) gern\b|\bich will (?:dass|das|wissen)\b",
    "decide": r"\b(?:(?:setzen|nehmen|machen|lassen|ersetzen|streichen|behalten|verwenden|nutzen) wir (?!das morgen|morgen"
    r"|später|mal)|wir (?:nehmen|machen .{1,40} (?:mit|statt|als)|bleiben|steigen .{1,60} um|wechseln|gehen (?:auf|mit|zu)"
    r"|setzen (?:auf|ab)|stellen .{1,60} um|ersetzen|verzichten|lassen .{1,40} (?:weg|fallen|drin|bleiben|raus)|schmeißen"
    r"|werfen|entscheiden|haben (?:uns )?(?:.{1,40} )?(?:entschieden|beschlossen|umgestellt|gewechselt|geeinigt|abgeschafft)"
    r"|ziehen .{1,40} um|verwenden .{1,40} (?:jetzt|künftig|statt)|nutzen .{1,40} (?:jetzt|künftig|statt)"
    r"|brauchen kein\w* .{1,30} mehr|haben .{1,40} kein\w* mehr|migrieren|streichen|behalten|trennen)"
    r"|lass(?:t)? uns (?!mal (?:schauen|sehen|gucken)|das (?:mal )?(?:anschauen|ansehen|testen|besprechen)|anfangen"
    r"|weitermachen|loslegen|kurz|erst ?mal).{1,70}(?:nehmen|verwenden|bleiben|wechseln|benutzen|nutzen|machen|umsteigen"
    r"|lassen|setzen|streichen|behalten|nennen|trennen|umstellen|ersetzen|rauswerfen|einführen|speichern|festlegen|aufteilen)"
    r"|(?:bleibt|bleiben)|ich will (?!dass|das|wissen|es)|variante [a-e\d]|option [a-e\d]|nehmen wir"
    r"|machen wir .{1,40} (?:mit|als|statt)|bleiben wir|dann (?:nehmen|machen|bleiben|lieber|eben|halt|doch|fest|also)"
    r"|nimm (?:lieber |doch |den|die|das )|entscheidung|entschieden|beschlossen|verständigt|geeinigt|vereinbart|festgelegt"
    r"|neuer plan|zurück zu[rm]? |(?:begrenz"
    r"|limitier)\w* |ich würd(?:e)? sagen wir|abgesegnet|es wird .{1,40}(?:werden|sein)$|doch lieber|lieber doch"
    r"|statt(?:dessen)?|anstatt|anstelle|fliegt raus|fliegen raus|kommt raus|kommt weg|fällt weg|entfällt|(?:ist|sind) raus"
    r"|(?:ist|sind) (?:vom tisch|gestorben|gesetzt|passé)|nicht mehr|kein\w* .{1,30} mehr|wird (?:auf|durch"
    r"|zu) .{1,40} (?:umgestellt|ersetzt|angehoben|erhöht|gesenkt)|ab (?:version|v?\d)|(?:geht|gehen|gehts) auf (?:v?\d)"
    r"|umgestiegen|reicht (?:uns|für uns|dicke|völlig|vollkommen)|bleibt (?:bei|auf|es|als|so)|ich nehm(?:e)? .{1,30}zurück"
    r"|hab(?:e)? mich umentschieden|anders überlegt|doch nicht|nun doch|jetzt doch|am ende doch|wir lassen)\b",
    "it_is": r"^[^,]{2,50} (?:wird's|wirds|soll es sein|bleibt es|bleibts)$",
    "then": r"^(?:dann|ok|okay|also|gut|na gut|also gut)[, ](?:eben |halt |fest |doch |lieber |also |bitte )?[^,]{2,60}$"
    r"|^[^,]{2,50} (?:dann|stattdessen)$|^(?:trotzdem|lieber|doch)[,: ]",
    "wrong": r"^(?:nein|nee|nö|ne(?=[,. ])|falsch|stimmt (?:so )?nicht|das (?:stimmt|ist) (?:so )?(?:nicht|falsch|die falsche"
    r"|der falsche|das falsche|alt|veraltet)|nicht (?:ganz|der|die|das|den|auf|in|von|so|mit)|moment|stopp?|halt(?=[,. !])"
    r"|warte|du hast .{1,50}(?:verwechselt|falsch|genommen|übersehen|vergessen|angenommen|eingetragen|geschrieben)"
    r"|wir (?:haben|nehmen|nutzen|benutzen|verwenden) (?:hier )?(?:gar )?(?:kein|nicht)|es gibt (?:hier )?kein|eher nicht"
    r"|quatsch|äh nein|hä|korrektur|ich meinte|fast)\b",
    "wrong_in": r", nicht (?:de[rmn] |die |das |in |auf |von )?[\w`'\"]|\b(?:sondern|nicht [\w`-]+, sondern"
    r"|müsste .{1,30} sein|heißt (?:richtig|eigentlich))\b",
    "task": r"\b(?:(?:^|(?<=, ))ich muss (?!sagen|zugeben|los|weg|sehen|wissen|gestehen)|(?:nächste woche|nächsten monat"
    r"|morgen|später|am (?:montag|dienstag|mittwoch|donnerstag|freitag)) .{0,20}(?:muss|müssen)|^offen(?=:)"
    r"|machen wir (?:morgen|später|nächste\w*)|erinner(?:e)? mich|nicht vergessen|vergiss (?:mir )?nicht|todo|to-do"
    r"|offen (?:ist|sind|bleibt)|(?:ist|sind|bleibt|steht) noch offen|noch offen|(?:muss|müssen|sollte|sollten|fehlt|fehlen"
    r"|brauchen|steht|stehen) (?:\w+ )?noch|(?:wir|ich|jemand|einer|man) (?:muss|müssen|sollte|sollten) .{1,80}(?:noch|bis"
    r"|vor|nach|nächste|später|wenn|sobald|morgen|demnächst)|bis (?:ende|anfang|mitte|montag|dienstag|mittwoch|donnerstag"
    r"|freitag|zum|nächste\w*|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)"
    r"|auf die (?:liste|todo|agenda)|ins backlog|fürs backlog|steht (?:noch )?aus|schulde|ausstehend|kümmer(?:e)? (?:ich mich"
    r"|mich)|mach(?:e)? ich (?:morgen|später|nächste|am|noch)|ich (?:mach|schick|frag|klär|schreib|bring"
    r"|liefer)(?:e)? .{1,60}(?:morgen|später|nächste|am|noch|nach)|nächste(?:n|s)? (?:woche|monat|sprint|mal)$|zu erledigen"
    r"|sobald .{1,60} (?:da ist|fertig ist|durch ist|steht)|nach dem (?:release|launch|umzug) )\b",
    "later": r"\b(?:morgen|nächste(?:n|r|s)? (?:woche|monat|sprint|jahr|release|mal)|später|bis (?:ende|anfang|mitte|montag"
    r"|dienstag|mittwoch|donnerstag|freitag|zum)|vor dem|nach dem|nicht heute|noch nicht|am (?:montag|dienstag|mittwoch"
    r"|donnerstag|freitag)|sobald|demnächst)\b",
    "done": r"\b(?:kann (?:also )?weg von der liste|von der liste|ist (?:schon )?(?:erledigt|fertig|durch)|hat sich erledigt"
    r"|abgehakt|abgegeben)\b",
    "procedure": r"(?:^so \w+ (?:du|man|wir)\b[^:]{0,40}:|\b(?:geht|läuft|funktioniert|gehen) (?:bei uns |hier |das )?so\b"
    r"|\bder (?:ablauf|weg|prozess) (?:ist|geht)\b|\bablauf\b[^:]{0,40}:|\bschritte\b|\bso geht\b|\banleitung:|^(?:zum"
    r"|für(?: den| die| das| ein\w*)?|beim|vor|nach|wenn|um) [^:]{3,60}: |^um .{3,50} zu \w+[:,]|\b(?:release|deploy\w*"
    r"|rollback|backup|build|restore|update)[\w äöü]{0,20} ?(?:=|heißt:|ist:|bedeutet:|geht so)|\bgeflasht wird\b"
    r"|\bgebaut wird\b|\bdeployt wird\b|\breleast wird\b|\bausgerollt wird\b)",
    "step": r"(?:\bdann\b|\bdanach\b|\bzuerst\b|\berst\b|\banschließend\b|\bzum schluss\b|->|→|\bals letztes\b|\bdarauf\b)",
    "by_command": r"(?:\b(?:mit|per|über|via|wird|läuft|starten|macht man)\b[^`]{0,25}`[^`]{3,80}`|`[^`]{3,80}` (?:baut"
    r"|startet|macht|erzeugt|setzt|löst|läuft|behebt))",
    "order": r"(?:bitte |jetzt |dann |und |mal |also |nun |erst |kurz )*(?:mach|mache|schau|guck|sieh|füge|füg|bau|baue|nimm"
    r"|schreib|schreibe|lösch|lösche|entfern|entferne|ändere|änder|zeig|zeige|prüf|prüfe|teste|test|führ|führe|starte|start"
    r"|stell|stelle|setz|setze|leg|lege|gib|hol|hole|lass|lies|les|such|suche|erklär|erkläre|erstell|erstelle|pack|packe"
    r"|benenn|verschieb|ersetz|ersetze|räum|probier|versuch|fix|fixe|commit|committe|push|pushe|merge|rollback|zieh|ziehe"
    r"|trag|trage|nenn|sag|sage|korrigier|dokumentier|generier|fass|fasse|vergleich|warte|wart|geh|geht|bring|bitte|häng"
    r"|hänge|schick|schicke|installier|aktualisier|deaktivier|aktivier|kopier|beschreib|mess|miss|ruf|halt|halte|melde|meld"
    r"|öffne|revert|denk|kümmer)\b",
    "fact": r"\bwir (?!könnten|sollten|müssten|würden|hätten|wären|sahen)\w+|\b(?:ist|sind|liegt|liegen|läuft|laufen|gehört"
    r"|gehören|heißt|heißen|hängt|hängen|steht|stehen|nutzt|nutzen|benutzt|verwendet|verwenden|kommt|kommen|geht (?:über|an"
    r"|nach|auf)|gehen (?:über|an|nach)|hat|haben|braucht|brauchen|macht|machen|betreut|verantwortet|kümmert|spricht|redet"
    r"|schickt|sendet|liest|schreibt|erwartet|rechnet|kann|können|wird|werden|gilt|gelten|bleibt|zuständig|ansprechpartner\w*"
    r"|basiert|endet|beginnt|fängt|kostet|dauert|speichert|enthält|unterstützt|wechselt|übernimmt|verlangt|zeigt auf|lauscht"
    r"|hört auf|nimmt|hält|gibt es)\b",
    "info": r"^(?:fyi|btw|übrigens|zur info|nur zur info|info|hinweis|kontext|zum kontext|damit du es weißt"
    r"|damit du bescheid weißt|nebenbei|merk dir|gut zu wissen|achso|ach so)\b",
    "weak_subject": r"^(?:ich|es|das|dies|da|du|er|sie|alles|nichts|etwas|was|so|hier)\b",
    "felt": r"\b(?:schön|toll|super|blöd|hässlich|lustig|nervig|katastrophe|cool|schade|traurig|froh|sorry|müde|neugierig"
    r"|gute nachricht|hoffe|glaube|glaub|denke|fürchte|schlimm|komisch|egal|klasse|besser aber)\b",
    "past": r"\b(?:war|waren|hatte|hatten|wurde|wurden|ging|kam|sagte|meinte|dachte|hab ich .{1,40}(?:t|en)$|gab|lief|fand"
    r"|sah)\b",
    "why": r"\b(?:weil|da (?:wir|der|die|das|es|sonst)|denn|sonst|wegen|damit|nämlich|deshalb|darum|grund)\b",
    "instead": r"\b(?:statt|anstatt|anstelle von|nicht|kein(?:e|en|er)?|nix|weg von|von|raus mit|ersetzen|ohne)\s+(?:de[rmn] "
    r"|die |das |ein\w* )?([\w`@/.+äöüÄÖÜß-]+)",
    "pronoun": r"^(?:es|das|dies|sie|er|die|der|diese[rs]?)\s+(?:ist|sind|wird|werden|hat|haben|liegt|läuft|kommt|geht|heißt"
    r"|bleibt|muss|kann|soll|darf)\b",
    "reminds": r"\b(?:denk dran|denk bitte dran|merk dir|für die zukunft|regel|wie immer|vorsicht|achtung|wichtig)\b",
    "changed": r"\b(?:jetzt|inzwischen|mittlerweile|nicht mehr|seit (?:januar|februar|märz|april|mai|juni|juli|august"
    r"|september|oktober|november|dezember|letzte\w*|20\d\d|dem \w+|der \w+)|ab sofort|nun)\b",
    "role": r"\b(?:^(?:die |der |das |unsere? )?\w+ (?:dürfen|darf|können|kann) (?!wir|du|ich|man|das|es)|spricht nur"
    r"|versteht nur|kann nur|jede nacht|jeden (?:tag|morgen|abend|montag|dienstag|mittwoch|donnerstag|freitag)|täglich"
    r"|wöchentlich|nächtlich|ist (?:unser\w*|der|die|das|bei uns) (?:\w+ )?(?:chef\w*|verantwortliche\w*|ansprechpartner\w*"
    r"|admin\w*|leiter\w*|kunde\w*|kundin)|ansprechpartner\w*|zuständig (?:für|ist)|kümmert sich|verantwortet|betreut"
    r"|liegt (?:unter|in|auf|im|bei)|liegen (?:unter|in|auf|im)|läuft (?:auf|in|unter|bei)|heißt|gehört (?:zu|dem|der)"
    r"|steht für|hängt an)\b",
    "if": r"\b(?:hypothetisch|angenommen|mal angenommen|was wäre wenn|wenn wir .{1,40} (?:würden|hätten|wären|nähmen)"
    r"|falls wir|hätten wir)\b",
    "accuses": r"\b(?:du hast .{1,50}(?:genommen|eingetragen|geschrieben|angenommen|verwechselt|benutzt|verwendet|gesetzt)"
    r"|(?:ist|war|sind) falsch|falsche[rsn]? (?:tabelle|datei|port|branch|name|stelle)|nicht d(?:er|ie|as|en)$"
    r"|das (?:stimmt nicht|ist veraltet)|(?:mir ist|ist mir) .{0,40}aufgefallen|ich sehe,? (?:dass )?du)\b",
    "manner": r"\b(?:nach|auf|ohne|mit|in|per|als|nur|über|im|zu)\b",
    "heading": r"\b(?:zu beachten|zum merken|wichtig|regeln?|hausregeln?|konventionen?|vorgaben?|richtlinien?|grundsätze?"
    r"|stil)\b",
    "introduces": r"^[a-zäöü]+ hier\b|\bhier ist [a-zäöü]+(?:,|$)|\bich bin (?:der|die) neue\b|\bich (?:bin zuständig|betreue"
    r"|kümmere mich|hab(?:e)? .{1,40} übernommen)\b|\bich übernehme\b",
    "each": r"\b(?:für|bei|mit|in|zu|an) (?:jede[rmns]?) (?!tag|woche|monat|jahr|montag|nacht)\w+",
    "picks": r"^(?:variante |option )?\(?[a-e1-5]\)(?=[\s,.:]|$)|^(?:die |das |den )?(?:erste|zweite|dritte"
    r"|letzte)[nrs]?(?: variante| option)?(?=[,.:]|$)",
    "finite": r"\b(?:ist|sind|war|wird|werden|hat|haben|bleibt|muss|soll|kann|geht|läuft|liegt|kommt|braucht)\b",
    "complement": r"\b(?:dass|was|ob|warum|wie|welche\w*|wer|wo|wenn|damit|bis|weil|da|so)\b",
    "rest": r"\b(?:nur|alles andere|der rest|alle anderen|sonst)\b",
    "concludes": r"(?:^|[\s,.:])(?:also|dann|ok|okay|gut|na gut|trotzdem|ja)\b",
    "compound": r"^(?:test|start|push)(?:s|daten|fälle|dateien)\b",
    "puts": r"^(?:wir (?:nehmen|sind|haben|nutzen)|nimm|es ist|der|die|das|mit|in|auf|benutz|es heißt)\b",
    "reverses": r"\b(?:nehm(?:e)? (?:das|ich|alles) .{0,12}zurück|hab(?:e)? mich umentschieden|anders überlegt"
    r"|kommando zurück|ich lag falsch)\b",
    "omits": r"\bdu hast .{1,40}(?:vergessen|übersehen|ausgelassen|kaputt\w*)\b",
    "everywhere": r"\b(?:überall|durchgehend|durchweg|flächendeckend)\b",
    "without": r"^(?:für [\w.]+ )?(?:kein(?:e|en|er)?|nix) (?!ahnung|problem|thema|stress|eile|lust|zeit|ding|entscheidung"
    r"|panik|plan\b|sorge|wunder|unterschied|fehler)\w+",
    "owed": r"\b(?:muss|müssen|soll\w*|braucht|brauchen|fällig|fehlt|fehlen|wollen|will|steht an|offen|läuft ab)\b",
    "due": r"\b(?:morgen|nächste[nrs]? (?:woche|monat|sprint|jahr|quartal|release)|demnächst|bald|später|irgendwann|(?:bis|vor|im"
    r"|nach|ende|anfang|mitte) (?:zum |dem )?(?:\d+\.|montag|dienstag|mittwoch|donnerstag|freitag|wochenende|januar|februar|märz"
    r"|april|mai|juni|juli|august|september|oktober|november|dezember|sommer|herbst|winter|frühjahr|ostern|weihnachten))\b",
    "solely": r"^nur [\w` äöüß-]{3,40}$|^[\w` äöüß-]{3,40} only$",
}  # fmt: skip
