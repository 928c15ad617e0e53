"""Words of English, German and Spanish -> what a clause says beside its subject: that it is over, new, forbidden, done, a view.

Lists of grammar words and of everyday verbs, no names of things. They decide between statements that speak of one thing, and
find none.
"""

from __future__ import annotations

import re
from typing import Final

_ANY: Final = r"(?:[\w'./-]+ ){0,%d}"


def _cues(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])(?:" + "|".join(patterns) + r")(?![\w-])")


# The statement says that something is another way than it was.
CHANGE: Final = _cues(
    r"(?:is|are) (?:\w+ )?(?:ok|okay|fine|allowed|back|possible)", r"becomes?", r"goes (?!through|in\b|under|into|for\b)\w+",
    r"von(?= \w+ (?:zu|auf|nach) )", r"resized", r"open again", r"wieder offen", r"take(?:s|n)? over",
    r"from (?:mon|tues|wednes|thurs|fri)day", r"setz\w* .{0,30} (?:hoch|runter|auf)", r"hoch auf", r"caused", r"war zu",
    r"was too", r"were too", r"bought", r"signed", r"on (?:\w+ )?leave", r"retired", r"ruhestand", r"elternzeit", r"jubil\w+",
    r"de baja", r"takes? (?:its|their|his|her|the) place", r"traslad\w+", r"transferred", r"hemos \w+ido",
    r"hemos (?:puesto|hecho|vuelto|abierto)",
    r"re(?:calibrat|assign|locat|negotiat|design|organi[sz]|structur|schedul|plann)\w*ed", r"should be", r"aufschub",
    r"prorrog\w+",
    r"from the next", r"(?:kannst|darfst) (?:jetzt|ab|auch|ruhig|ohne|gern)", r"ya puedes", r"puedes .{0,20}sin",
    r"(?:is|are) (?:down|up) to", r"opt(?:ed|ado|amos|aron) (?:for|por)", r"entschieden", r"decant\w+ por",
    r"gave us until", r"desde que",
    r"the new \w+", r"(?:is|are)n't (?:needed|necessary|required)", r"not (?:needed|necessary|required)",
    r"unnecessary", r"no renov\w+",
    r"from (?:today|tomorrow|next \w+|may|june|july|january|february|march|april|august|september|october|november|december)",
    r"ab (?:mai|juni|juli|januar|februar|maerz|april|august|september|oktober|november|dezember|naechst\w+|montag|heute)",
    r"(?:may|can|allowed|fine|ok) .{0,30}again", r"(?:darf\w*|duerfen|kannst|koennen|erlaubt) .{0,30}wieder",
    r"wieder .{0,20}(?:erlaubt|moeglich)",
    r"(?:puede\w*|podemos) .{0,30}(?:otra vez|de nuevo)", r"now", r"no longer", r"any ?more", r"any longer",
    r"from (?:now|here|today|this \w+) on", r"as of", r"starting (?:with|from)", r"instead", r"after all", r"on second thought",
    r"scratch (?:that|the)", r"forget (?!to\b|it\b)\w+", r"never ?mind", r"i take (?:that|it) back",
    r"changed? (?:my|our) minds?", r"chang(?:ed|ing)", r"change(?:s)? (?:to|from|into|it|that|this|my|our|the|of)",
    r"switch(?:ed|es|ing)?", r"swap(?:ped|s|ping)?",
    r"replac(?:e|ed|es|ing)", r"renam(?:e|ed|es|ing)", r"migrat(?:e|ed|es|ing)", r"convert(?:ed|ing|s)?", r"port(?:ed|ing)",
    r"drop(?:ped|ping|s)?", r"ditch(?:ed|es|ing)?", r"mov(?:e|ed|es|ing)", r"revert(?:ed|ing|s)?", r"roll(?:ed|ing)? back",
    r"(?<!falls )(?<!fall )back to", r"(?:is|are|was|were) (?:gone|out|history|done)", r"retir(?:e|ed|es|ing)",
    r"g[eo]t(?:ting)? rid of", r"getting off", r"outgr(?:ew|own)", r"remov(?:e|ed|es|ing)", r"delet(?:e|ed|es|ing)",
    r"lower(?:ed|s|ing)", r"rais(?:e|ed|es|ing)", r"bump(?:ed|s|ing)?", r"increas(?:e|ed|es|ing)", r"decreas(?:e|ed|es|ing)",
    r"reduc(?:e|ed|es|ing)", r"doubl(?:e|ed|es|ing)", r"halv(?:e|ed|es|ing)", r"turn(?:ed|s)? (?:\w+ )?(?:off|on)",
    r"supersed\w+", r"updat(?:e|ed|es|ing)", r"upgrad(?:e|ed|es|ing)", r"go(?:es|ing)? (?:(?:up|down|back|over) )?from",
    r"go(?:es|ing)? (?:up|down|back|over) to",
    r"make (?:it|that)", r"isn't enough", r"left", r"took over", r"takes over", r"hand(?:ed|s) (?:\w+ )?over",
    r"pass(?:es|ed) to",
    r"since (?:the|last|mid|this|yesterday|\w+day|we|v?\d)", r"lifted", r"is (?:ok|okay|fine|allowed)(?: now| after)?",
    r"you may", r"may go", r"can go", r"no need", r"(?:don't|doesn't|do not|does not|no longer) need", r"has been \w+ed",
    r"have been \w+ed", r"we're on", r"not .{3,30} but", r"repointed", r"fixed", r"used to", r"i was wrong", r"finally",
    r"(?:the|our|my) new \w+ (?:is|are|will)", r"new (?:rule|plan|policy|limit|deadline|owner|default|version)", r"stop \w+ing",
    r"from .{1,30} to", r"abandon(?:ed|ing)?",
    r"deprecated?", r"decommissioned", r"no more", r"out with", r"kill(?:ed|ing)?", r"enough of", r"last week", r"slipped",
    r"postponed", r"delayed", r"pushed (?:back|out|to)", r"extend(?:ed|s)?", r"shorten(?:ed)?", r"rescheduled",
    r"brought forward", r"(?:got|has|have|get|gets|there's|with) (?:a |an |the )?new", r"come around", r"came around",
    r"turns out", r"these days", r"nowadays", r"meanwhile", r"by now", r"rip(?:ped|ping)?", r"threw", r"thrown",
    r"scrapp?(?:ed|ing)?", r"phas(?:ed|ing) out", r"sunset", r"gave up", r"giving up", r"done with", r"split(?:ting)?",
    r"merg(?:ed|ing) into", r"this (?:week|month|year|morning)", r"yesterday",
    r"last (?:week|month|sprint|night|friday|monday|tuesday|wednesday|thursday)", r"won't", r"had to", r"has become", r"became",
    r"turned out", r"decided (?:against|on|to)", r"then$", r"better", r"again allowed", r"instead of", r"rather than", r"over to",
    r"in place of", r"settled on", r"won the", r"too \w+ for us", r"superfluous", r"lapsed", r"void", r"jetzt", r"nun",
    r"ab (?:jetzt|sofort|heute|morgen|dem|der|v?\d\S*)", r"nicht mehr", r"kein\w* " + _ANY % 4 + r"mehr", r"von nun an",
    r"kuenftig", r"in zukunft", r"inzwischen", r"mittlerweile", r"statt(?:dessen)?", r"anstatt", r"anstelle", r"umgestiegen",
    r"umgezogen", r"umgestellt", r"umstellen", r"umbenannt", r"(?:steig|zieh|stell)\w* " + _ANY % 6 + r"um", r"wechsel\w*",
    r"gewechselt", r"ersetz\w*", r"abgeloest", r"raus", r"rausgeworfen", r"rausgeflogen", r"nur noch", r"geschichte", r"vergiss",
    r"doch (?:lieber|wieder|nicht|besser)", r"zurueck (?:zu|auf)", r"erledigt",
    r"seit (?:dem|der|gestern|letzt\w+|mai|\w+tag|v?\d)", r"heisst (?:jetzt|nun)", r"(?:ge)?aendert\w*", r"weg(?:gefallen)?",
    r"faellt weg", r"abgeschafft", r"uebernimmt", r"uebernommen", r"erhoeh\w*", r"hochgesetzt", r"verschoben", r"gestrichen",
    r"abgeschaltet", r"aufgehoben", r"wieder erlaubt", r"darf(?:st)? jetzt", r"rausgeschmissen", r"eingestampft", r"schluss mit",
    r"verschiebt", r"neuerdings", r"letzte\w* (?:woche|monat|sprint)", r"gestern", r"wieder (?:auf|zu|mit)", r"bauen wieder",
    r"heisst", r"ausgeschieden", r"in rente", r"gegangen", r"fliegt", r"hebe\w* \w+ auf", r"lockern?", r"verlaenger\w+",
    r"verkuerz\w+", r"ahora", r"ya no", r"a partir de", r"desde (?:hoy|ahora|el|la|ayer|esta|este|que|hace)", r"en vez de",
    r"en lugar de", r"cambi\w+", r"(?:nos )?pas(?:amos|o|a|ado|aron) a", r"nos vamos", r"migra(?:mos|do|r|ron|da)",
    r"quit(?:amos|ar|a|ado|aron)", r"quite (?:el|la|los|las|eso)", r"dejamos de", r"se acabo", r"al final", r"mudad?\w*",
    r"se (?:ha ido|fue|marcho)", r"olvid\w+",
    r"volvemos", r"vuelta a", r"sustitu\w+", r"reemplaz\w+", r"sube a", r"baja a", r"subimos", r"bajamos", r"ya esta\w*",
    r"ya (?:tenemos|se puede|puedes)", r"mejor (?:usa|con|a)", r"fuera", r"retir\w+", r"elimin\w+", r"se jubila", r"descart\w+",
    r"deja(?:n)? de", r"nada de", r"adios", r"en adelante", r"actualiz\w+", r"abandonamos", r"movi(?:do|mos)", r"movemos",
    r"pospuest\w+", r"pospon\w+", r"aplaz\w+", r"retras\w+", r"echamos", r"sacamos", r"se retrasa", r"nos cargamos",
    r"ya (?:podemos|lo|la|los|las|no|quedo|hay|usamos|vamos)", r"la semana pasada", r"el mes pasado", r"ayer", r"hemos \w+ado",
    r"renombr\w+", r"subio", r"subieron", r"bajo a", r"ampli\w+", r"de ahora en",
)  # fmt: skip
# Near a word: what it names is over, or was never to be.
OVER: Final = _cues(
    r"mistakes?", r"fehler", r"skip", r"nobody", r"niemand", r"keiner", r"nadie", r"rejects?", r"refuses?", r"rechaza\w*",
    r"no renov\w+", r"bloat\w*", r"clutter\w*", r"useless", r"pointless", r"out of hand",
    r"von(?= \w+ (?:zu|auf|nach) )", r"los(?:es|ing|t)", r"caus\w+", r"bugs?", r"trouble", r"hell", r"nightmare", r"mess",
    r"problems?", r"outages?", r"expensive", r"slow", r"unstable", r"voll", r"knapp", r"langsam", r"teuer", r"instabil",
    r"aerger", r"probleme", r"ausfaelle", r"caro", r"problemas", r"errores", r"fallos", r"caidas", r"bit us", r"painful",
    r"brittle", r"cambi\w+(?= [\w.]+ por)", r"tausch\w*", r"rip(?:ped|ping)?", r"threw", r"thrown", r"scrapp?(?:ed|ing)?",
    r"phas(?:ed|ing) out", r"sunset", r"gave up", r"giving up", r"done with", r"tired of", r"sick of", r"axed", r"nuked",
    r"dumped", r"yanked", r"(?:goes|go|has to go|must go|muss weg|geht|se va)(?=\W*$)", r"bye", r"say goodbye",
    r"pulled the plug", r"rausgeschmissen", r"rausgeworfen", r"rausgeflogen", r"eingestampft", r"schluss mit", r"in rente",
    r"ausgeschieden", r"gekuendigt", r"gegangen", r"echamos", r"sacamos", r"nos cargamos", r"desinstal\w+", r"se acabaron",
    r"instead of", r"rather than", r"in place of", r"not", r"no", r"no longer", r"no more", r"any ?more", r"any longer",
    r"\w+n't", r"cannot", r"never", r"without", r"nor", r"drop(?:ped|ping|s)?", r"replac(?:e|ed|es|ing)", r"retir(?:e|ed|es|ing)",
    r"renam(?:e|ed|es|ing)",
    r"(?:is|are|was|were|has|got|get|gets) (?:\w+ )?(?:gone|out|off|history|over|dead|obsolete|dropped|void)",
    r"go(?:es)? (?:gone|history|over|dead|(?:out|off)(?=\W*$))", r"on (?:\w+ )?leave", r"retired", r"ruhestand", r"elternzeit",
    r"jubil\w+",
    r"de baja", r"erledigt", r"entfaellt", r"entfallen", r"hinfaellig", r"ueberfluessig", r"unnecessary", r"redundant", r"moot",
    r"sobra\w*",
    r"(?:switched|turned|shut) (?:off|down)", r"away from", r"rid of", r"(?<!signs )(?<!sign )(?<!signed )(?<!signing )off",
    r"remov(?:e|ed|es|ing)", r"delet(?:e|ed|es|ing)",
    r"decommissioned", r"deprecated?", r"abandon(?:ed|ing)?", r"revert(?:ed|ing)?", r"scratch", r"forget", r"disabled?",
    r"ditch(?:ed|es|ing)?", r"outgr(?:ew|own)", r"too \w+", r"unmaintained", r"stop(?:ped)?", r"left", r"leaving",
    r"(?:has |was )?moved (?:on|to)", r"swap(?:ped|ping)?", r"switch(?:ed|ing)? from", r"from", r"hangs?", r"clash\w*",
    r"fail\w*", r"slows?", r"wasteful", r"unmaintainable", r"ridiculous", r"confus\w+", r"flaky", r"silly", r"timing out",
    r"timed out", r"died", r"dies", r"crash\w*", r"discouraged", r"overkill", r"nervt\w*", r"haengt", r"stuerzt", r"petaba?",
    r"falla\w*", r"lent\w+", r"out with", r"kill(?:ed|ing)?", r"used to", r"choked", r"broke(?:n)?", r"a pain", r"can go",
    r"may go", r"lifted", r"off limits", r"ends", r"ended", r"turn(?:ed)? \w+ off", r"statt", r"anstatt", r"anstelle", r"nicht",
    r"kein\w*", r"nie", r"niemals", r"ohne", r"raus", r"weg", r"geschichte", r"ersetz\w+", r"abgeloest", r"abgeschafft",
    r"vergiss", r"zu \w+ geworden", r"weg von", r"fliegt", r"loswerden", r"abgeschaltet", r"gestrichen", r"aufgehoben", r"faellt",
    r"verlassen", r"zu (?:lahm|langsam|teuer|viel|schwer|gross|alt|umstaendlich|kompliziert|wenig|kurz|lang)",
    r"ist (?:raus|weg|tot|fort)", r"en vez de", r"en lugar de", r"ya no", r"nunca", r"jamas", r"sin", r"nada de",
    r"quit(?:amos|ar|a|ado|aron)", r"dejamos(?: de)?", r"deja(?:n)? de", r"se acabo",
    r"se (?:ha|han) (?:ido|marchado|jubilado|acabado)", r"se fue", r"fuera", r"adios", r"olvid\w+", r"sustitu\w+", r"reemplaz\w+",
    r"retir\w+", r"elimin\w+", r"descart\w+", r"pasa a", r"abandonamos", r"tir(?:amos|ado) (?:\w+ )?a la basura",
    r"demasiado \w+",
)  # fmt: skip
# A rule forbids, or says that something is not so.
NOT: Final = _cues(
    r"noise",
    r"bloat\w*", r"clutter\w*", r"useless", r"pointless", r"don't mind",
    r"stay off", r"stay out",
    r"leave \w+ out", r"worst", r"terrible", r"awful", r"horribl[ey]", r"furchtbar", r"schrecklich", r"lo peor", r"skip",
    r"spare (?:me|us)", r"ahorra\w*", r"omit", r"weglassen", r"spar(?:en|t)? (?:wir|dir|uns)",
    r"sobran?", r"slow(?:s|ed)", r"than",
    r"over(?= \w)", r"instead of", r"statt", r"als(?= \w+ *$)", r"antes que", r"en vez de", r"hard to", r"difficult", r"ugly",
    r"clunky", r"noisy", r"verbose", r"a pain", r"annoying", r"overkill", r"one more thing", r"unreadable",
    r"too (?!(?:please|btw)\b)\w+", r"umstaendlich", r"nervt", r"engorros\w+", r"pesad\w+", r"un lio", r"soup", r"mess", r"not",
    r"no", r"never", r"\w+n't", r"cannot", r"without", r"nobody", r"no one", r"none", r"nothing", r"neither", r"nor",
    r"hands[ -]off", r"off limits", r"off-limits", r"avoid\w*", r"stop", r"forbidden", r"stay away", r"keep (?:out|off|away)",
    r"refuse", r"hate\w*", r"dislike\w*", r"not a fan", r"frozen", r"append-only", r"untouched", r"zero", r"banned", r"dont",
    r"doesnt", r"isnt", r"wont", r"cant", r"leave .{1,40} alone", r"freeze", r"nicht", r"nix", r"nichts", r"kein\w*", r"nie",
    r"niemals", r"niemand", r"ohne", r"verboten", r"finger weg", r"tabu", r"lass die finger", r"weder", r"bloss nicht", r"hasse",
    r"nunca", r"jamas", r"sin", r"nada", r"nadie", r"ningun\w*", r"prohibid\w+", r"ni", r"tampoco", r"evita\w*", r"odio",
)  # fmt: skip
# It is allowed, or asked for.
MAY: Final = _cues(
    r"open", r"unblocked", r"unfrozen", r"frei", r"offen", r"libre", r"in scope",
    r"may", r"can(?! go)", r"allowed", r"feel free", r"free to", r"fine", r"ok", r"okay", r"permitted", r"welcome to",
    r"go ahead", r"no need", r"optional", r"good enough", r"darf(?:st)?", r"duerfen", r"erlaubt", r"kannst", r"in ordnung",
    r"freigegeben", r"puedes?", r"se puede\w*", r"podemos", r"(?:me|nos) dan? igual", r"si quieres", r"if you (?:like|want)",
    r"wenn du (?:willst|magst)", r"permitid\w+", r"vale", r"versionar",
)  # fmt: skip
# Only: what it says holds under a condition, so that yes and no stand side by side in it.
ONLY: Final = _cues(
    r"only", r"except", r"outside", r"unless", r"but not", r"other than", r"nur", r"ausser", r"sondern", r"solo", r"solamente",
    r"unicamente", r"salvo", r"excepto", r"menos", r"fuera de", r"sino", r"ohne (?:vorher|rueckfrage)",
    r"ask (?:me|us|first|before)", r"frag\w* (?:mich|uns|vorher|erst)", r"pregunt\w+ antes", r"preguntame",
    r"without (?:(?:my|his|her|our|their|the|a|an|\w+'s|prior|explicit) )*"
    r"(?:asking|review|my|consent|approval|permission|okay|ok|sign-off)", r"until", r"bis", r"hasta", r"vorher", r"first",
)  # fmt: skip
# Nobody has to.
OPTIONAL: Final = _cues(
    r"optional", r"no need", r"(?:nobody|no one) (?:has|needs?) to", r"(?:don't|doesn't|needn't|do not) (?:have|need) to",
    r"needn't",
    r"(?:not|isn't|aren't) (?:required|mandatory|necessary|needed|expected)", r"kein muss", r"freiwillig",
    r"nicht (?:noetig|zwingend)",
    r"muss(?:t|en)? nicht", r"opcional\w*", r"no (?:hace falta|es necesario|es obligatorio|hay que)",
)  # fmt: skip
# A change that is ordered, whoever wanted it.
ORDERED: Final = _cues(
    r"from (?:now|here|today) on", r"from (?:now|today)", r"as of", r"effective", r"no longer", r"ab (?:sofort|jetzt|heute)",
    r"kuenftig",
    r"nicht mehr", r"a partir de", r"en adelante", r"desde hoy", r"ya no", r"we(?:'ve| have)? (?:switched|moved|dropped|changed)",
)  # fmt: skip
# Allowed, and nobody has to be asked.
UNASKED: Final = _cues(
    r"without (?:asking|checking|waiting|approval|permission|review)", r"ohne (?:zu fragen|rueckfrage|nachfrage|freigabe)",
    r"sin (?:preguntar|pedir|consultar|permiso|esperar)",
)  # fmt: skip
# A view, a hearsay, somebody else's habit: it does not take the place of what was decided.
SOFT: Final = _cues(
    r"if you ask me", r"wenn du mich fragst", r"a mi", r"la verdad", r"afaik", r"iirc", r"imo", r"reportedly", r"allegedly",
    r"seemingly", r"presumably", r"rumou?rs?", r"word is",
    r"i (?:was|am) (?:told|under the impression)", r"i've (?:been told|heard|read|seen)", r"i(?: am|'m) (?:told|hearing)",
    r"i (?:thought|assumed|remember|recall|hear|vaguely|could have sworn|had in mind)", r"from what i",
    r"my (?:understanding|impression)",
    r"as i understand", r"it seems", r"seems (?:to|like|that)", r"looks like", r"supposed to be",
    r"someone (?:said|told|mentioned|wrote)",
    r"somebody (?:said|told|mentioned|wrote)", r"tells? me", r"told us", r"(?:was|were) saying", r"keeps? (?:saying|telling)",
    r"(?:docs?|documentation|readme|wiki|changelog|ticket|runbook|page|comment|dashboard|sheet|contract|handbook|spec|manual) "
    r"(?:still )?(?:says?|said|states?|stated|claims?|lists?|mentions?|has|gives?|shows?|reads?|talks?)",
    r"(?:wasn't|isn't|weren't|aren't|didn't|doesn't) (?:it|that|this|we|they|he|she)", r"imho",
    r"i (?:think|guess|believe|suppose|find|heard|read)", r"i'd have", r"i would(?: have)?",
    r"i'd(?! (?:say )?(?:switch|move|drop))", r"for me", r"in my \w+", r"personally", r"apparently", r"supposedly", r"probably",
    r"maybe", r"not sure",
    r"(?:says?|said|claims?|thinks?|told me|mentioned|insists|reckons|swears|prefers|wants|likes) "
    r"(?:that )?(?:she|he|they|it|to|the|we|in)",
    r"she says", r"he says", r"they say", r"(?:he|she|they) (?:always|never|usually|prefers?)", r"according to", r"as far as i",
    r"wouldn't mind", r"nicer", r"more readable", r"i like", r"as i (?:remember|recall)", r"somewhere i read",
    r"the (?:docs|readme|wiki) says?", r"\w+ (?:says|claims|reckons|swears|thinks|told me)(?! so\b)", r"glaub\w*",
    r"meines wissens",
    r"soweit ich weiss", r"angeblich", r"anscheinend", r"scheinbar", r"offenbar", r"vermeintlich", r"hiess es", r"heisst es",
    r"meinte\w*", r"erzaehlt\w*",
    r"schaetzt\w*", r"estimates?", r"nach (?:auskunft|angaben?|aussage|meinung|ansicht)", r"dachte",
    r"gehoert(?= |,|$)(?! (?:zu|dem|der|den|ihm|ihr|uns)\b)",
    r"gelesen",
    r"(?:doku|wiki|readme|ticket|handbuch|vertrag) (?:steht|nennt|sagt|spricht)", r"steht (?:in|im) ", r"meines erachtens",
    r"wenn ich mich recht", r"meine ich", r"kommt mir vor", r"wohl", r"vielleicht", r"meint\w*", r"sagt\w*", r"findet",
    r"ich finde", r"fuer mich",
    r"ich haette", r"ich wuerde", r"vermutlich", r"laut", r"behauptet", r"mir waere", r"schreibt", r"creo", r"segun", r"dice\w*",
    r"me parece", r"estima\w*", r"al parecer", r"parece que", r"pensaba", r"pense que", r"creia", r"tenia entendido",
    r"me suena", r"he oido",
    r"(?:me|nos) (?:han )?(?:dijo|dijeron|dicho|conto|contaron|comento|comentaron)", r"dijo", r"dijeron", r"comento",
    r"supuestamente",
    r"(?:documentacion|wiki|readme|ticket|contrato|manual|pliego) (?:pone|dice|habla|indica)", r"pone que", r"supongo",
    r"para mi", r"prefiere", r"yo (?:habria|hubiera|pondria|usaria|haria)", r"quizas?", r"a lo mejor",
    r"por lo visto", r"que yo sepa", r"comenta", r"le gusta", r"tengo entendido", r"habria \w+",
)  # fmt: skip
# It was said before and still holds.
AGAIN: Final = _cues(
    r"still", r"as before", r"as (?:always|ever|usual|i (?:said|told)|we said|agreed|discussed)",
    r"like (?:always|i said|before)", r"remember(?:ed)?", r"remind\w*", r"usual", r"(?:hasn't|has not|nothing) changed",
    r"same (?:rule|as|here|goes)", r"(?<!to )stays?", r"(?<!to )remains?", r"told you", r"once more", r"you know", r"as in",
    r"continue\w*", r"unchanged", r"goes for", r"applies here", r"every occasion", r"no change", r"weiterhin",
    r"wie (?:immer|gehabt|gesagt|bisher|besprochen|ueblich|vorher|sonst)", r"nach wie vor", r"bleibt (?:es )?(?:dabei|bei)",
    r"bleibt", r"immer noch", r"nochmal", r"noch ?mal", r"erinner\w+", r"du weisst", r"nochmals", r"gilt (?:auch|weiter\w*|hier)",
    r"denk dran", r"como (?:siempre|antes|ya|dije|en toda|hasta ahora|te dije|quedamos)", r"ya sabes", r"sigue\w*",
    r"recuerd\w+", r"igual que", r"lo mismo", r"insisto", r"se mantiene", r"acuerdate", r"repito",
)  # fmt: skip
# A task is no longer open.
DONE: Final = _cues(
    r"done", r"finished", r"fixed", r"shipped", r"merged", r"completed?", r"is in", r"are in", r"went (?:in|out|through)",
    r"off (?:the|my|our) list", r"took care", r"taken care", r"sorted", r"solved", r"resolved", r"closed", r"handed in",
    r"delivered", r"rolled out", r"got (?:its|their|his|her|the|a|it|rid)",
    r"(?:has|have|was|were|is|are|been|i've|we've) (?:\w+ )?"
    r"(?:\w{3,}ed|sent|written|made|built|run|set|put|gone|gotten|done)(?: \w+)?",
    r"(?:has|have|was|were|is|are|been|got) (?:\w+ )?(?:re)?"
    r"(?:written|built|made|sent|shown|drawn|bought|brought|taken|given|done|run|split|cut)",
    r"ran (?:on|last|this|yesterday|today|through)", r"took place", r"\w{3,}(?:ados|adas|idos|idas)", r"happened", r"fand",
    r"se hizo",
    r"finally \w+ed", r"no longer (?:needed|necessary|open)", r"works now", r"live", r"out of the way", r"through", r"behind us",
    r"landed", r"\w+ed (?:it|that|them|this|the) .{0,40}(?:yesterday|last|this morning|on \w+day|today|already)", r"already \w+",
    r"cross\w* off", r"i \w+ed", r"we \w+ed", r"ticked", r"all set", r"forget about", r"not needed", r"obsolete", r"moot",
    r"erledigt", r"fertig", r"durch", r"gemacht", r"abgegeben", r"abgeschlossen", r"behoben", r"gefixt", r"geloest",
    r"(?:ist|sind|hab|habe|hat|haben|wurde|wurden) " + _ANY % 8
    + r"(?:ge\w+|\w+iert|\w*ge\w+(?:t|en)|ver\w+t|be\w+t|er\w+t|drin|raus|live)",
    r"vom tisch", r"ist drin", r"steht", r"laeuft (?:jetzt|wieder)", r"hinfaellig", r"hecho", r"listo",
    r"(?:esta|quedo|queda) lista", r"ya esta\w*", r"terminad\w+", r"acabad\w+", r"resuelt\w+", r"arreglad\w+",
    r"(?:ha|he|han|hemos|esta|quedo|queda) (?:\w+ )?\w+(?:ado|ada|ido|ida|to|ta|cho|cha)s?", r"cerrad\w+", r"solucionad\w+",
    r"ya (?:lo|la|los|las|se) \w+", r"entregad\w+", r"ya no hace falta", r"ya \w+",
)  # fmt: skip
# It comes on top of what is there.
ADDED: Final = _cues(
    r"also", r"in addition", r"additionally", r"as well", r"on top", r"besides", r"plus", r"another", r"second", r"too",
    r"as a fallback", r"next to", r"auch", r"ausserdem", r"zusaetzlich", r"dazu", r"noch ein\w*", r"weiter\w+", r"tambien",
    r"ademas", r"aparte", r"otro", r"otra",
)  # fmt: skip
# It holds here and now, not in general.
ONCE: Final = _cues(
    r"for (?:this|that|now|once|today)", r"(?<!from )(?<!of )(?<!since )this (?:time|once|one|branch|pr|release|sprint)",
    r"just (?:this|here|once)", r"in this (?:case|branch|pr|one)", r"exceptionally", r"one-off",
    r"in (?:his|her|their) (?:own )?(?:\w*repo\w*|branch\w*|projects?|teams?|setup|fork|module|service|package)",
    r"diesmal", r"ausnahmsweise", r"fuer (?:diesen|diese|dieses|heute|jetzt)", r"hier mal", r"einmalig", r"esta vez",
    r"por (?:esta|hoy|ahora)", r"solo (?:esta|hoy|por)", r"excepcionalmente", r"en est[ea] (?:rama|pr|caso)",
)  # fmt: skip
# It is allowed for some things only, and said as no change.
EXCEPTED: Final = _cues(
    r"(?:ok|okay|fine|allowed|acceptable|erlaubt|in ordnung|permitid\w+|vale\w*) (?:for|in|within|inside|fuer|im|bei|para|en)"
    r"(?! (?:v?\d|me\b|mi\b|mich\b|now\b|general\b))(?!.*\b(?:now|again|after all|jetzt|wieder|ab sofort|ahora|ya)\b)",
)  # fmt: skip
# What stands before it is what is spoken of.
IS: Final = _cues(
    r"is", r"are", r"was", r"were", r"has", r"have", r"uses?", r"runs?", r"lives?", r"sits?", r"stays?", r"goes", r"go", r"must",
    r"should", r"has to", r"moved?", r"moves", r"owns?", r"expires?", r"listens?", r"takes?", r"gets?", r"means?", r"needs?",
    r"comes?", r"ends?", r"stands?", r"belongs?", r"reviews?", r"handles?", r"ist", r"sind", r"war", r"hat", r"haben", r"laeuft",
    r"laufen", r"liegt", r"liegen", r"heisst", r"bleibt", r"bleiben", r"soll", r"sollen", r"muss", r"muessen", r"kommt",
    r"gehoert", r"wird", r"werden", r"macht", r"nutzt", r"nutzen", r"will", r"wird", r"returns?", r"shows?", r"accepts?",
    r"sends?", r"supports?", r"contains?", r"starts?", r"keeps?", r"wants?",
    r"zeigt", r"liefert", r"schickt", r"braucht", r"enthaelt", r"startet", r"nimmt", r"kommen", r"gehoeren", r"sera\w*",
    r"ira\w*", r"carga\w*",
    r"se \w+(?:a|an|e|en)", r"abre", r"acepta", r"muestra", r"devuelve", r"necesita\w*", r"es", r"son", r"esta", r"estan",
    r"va", r"van", r"tiene\w*",
    r"usa\w*", r"vive", r"corre", r"escucha", r"lleva", r"se llama", r"queda", r"debe\w*", r"pasa",
)  # fmt: skip
# Somebody else's words are told.
REPORTED: Final = _cues(
    r"(?:\w+ )?(?:says|said|claims|reckons|insists|swears|told me|told us|tells me|mentioned|thinks|prefers|claimed|wrote)",
    r"according to", r"sagt\w*", r"nach (?:auskunft|angaben?|aussage)", r"hiess es", r"dijo",
    r"me (?:ha )?(?:dijeron|dicho|comento)",
    r"(?:docs?|documentation|readme|wiki|changelog|ticket|runbook|page|dashboard|sheet|contract|handbook|spec|manual) "
    r"(?:still )?(?:says?|states?|claims?|lists?|mentions?|gives?|shows?|reads?)",
    r"meint\w*", r"behauptet", r"laut", r"dice que", r"segun", r"comenta que", r"prefiere",
)  # fmt: skip
# Who is in charge of something.
IN_CHARGE: Final = _cues(
    r"owns?", r"owners?", r"owned", r"maintain\w*", r"belongs? to", r"in charge", r"responsible", r"handles?", r"handling",
    r"looks? after",
    r"takes? (?:over|care)", r"took over", r"taken over", r"leads?", r"reviews?", r"approves?", r"signs? off", r"sign-off",
    r"contact",
    r"(?:person|one|guy|somebody) to (?:ask|ping|talk)", r"(?:ask|ping|goes? to|talk to|go through|goes through)", r"runs? the",
    r"point person", r"on call", r"zustaendig", r"verantwort\w+", r"ansprechpartner\w*", r"betreut\w*", r"kuemmert\w*",
    r"gehoert",
    r"uebern\w+", r"gegenlesen", r"gegengelesen", r"freigabe\w*", r"gibt .{0,20} frei", r"pflegt", r"leitet", r"macht",
    r"lleva\w*", r"(?:se )?encarg\w+", r"responsable", r"mantiene", r"revisa", r"aprueba", r"es de", r"duen[oa]", r"gestiona",
    r"coordina",
)  # fmt: skip
# A verb of the past, or of trouble: said of a thing, it tells why the thing was left.
PAST: Final = _cues(
    r"(?<!is )(?<!are )(?<!get )(?<!gets )(?<!be )(?<!been )\w{2,}ed", r"was", r"were", r"had", r"kept", r"gave", r"got",
    r"took", r"made", r"broke", r"cost", r"costs", r"ran", r"lost", r"died",
    r"hung", r"went", r"fell", r"ate", r"hurt", r"bit", r"blew", r"drove", r"didn't", r"couldn't", r"keeps \w+ing",
    r"war", r"waren", r"hatte\w*", r"hing\w*", r"lief\w*", r"ging\w*", r"machte\w*", r"fiel\w*", r"brach\w*", r"kostete\w*",
    r"wurde", r"(?:mach|reich|dauer|pass|klapp|fehl|stoer|nerv|funktionier|woll|konn)te\w*", r"era\w*", r"fue\w*",
    r"daba\w*", r"\w{2,}(?:aba|aban|aron|ieron)", r"(?:perd|ten|hac|pod|sal|ven|ca|romp|consum)ian?",
)  # fmt: skip
# What went wrong goes wrong no more.
MENDED: Final = _cues(
    r"von(?= \w+ (?:zu|auf|nach) )", r"from(?= [\w.]+ to )", r"(?:pasamos|migramos|cambiamos|fuimos) de",
    r"(?:was|were|war|waren) (?:a |an |ein )?(?:mistake|error|fehler|too \w+|zu \w+)", r"cambi\w+(?= [\w.]+ por)", r"tausch\w*",
    r"trad(?:e|ed|ing)", r"rip(?:ped|ping)?", r"threw", r"thrown", r"scrapp?(?:ed|ing)?", r"phas(?:ed|ing) out", r"sunset",
    r"gave up", r"giving up", r"done with", r"tired of", r"sick of", r"axed", r"nuked", r"dumped", r"yanked",
    r"(?:goes|go|has to go|must go|muss weg|geht|se va)(?=\W*$)", r"bye", r"say goodbye", r"pulled the plug", r"rausgeschmissen",
    r"rausgeworfen", r"rausgeflogen", r"eingestampft", r"schluss mit", r"in rente", r"ausgeschieden", r"gekuendigt", r"gegangen",
    r"echamos", r"sacamos", r"nos cargamos", r"desinstal\w+", r"se acabaron", r"fixed", r"solved", r"resolved",
    r"no longer (?:needed|necessary|happens|fails)", r"behoben", r"gefixt", r"geloest", r"repariert", r"arregl\w+", r"resuelt\w+",
    r"solucion\w+", r"corregid\w+",
)  # fmt: skip
# It has to be, whoever says so.
BINDING: Final = _cues(
    r"must", r"ha(?:s|ve) to", r"needs? to", r"required", r"mandatory", r"muss", r"muessen", r"pflicht", r"tiene que", r"hay que",
    r"debe\w*", r"obligatori\w+",
)  # fmt: skip


# Right beside a word: it was in use, and is given up.
ENDED: Final = _cues(
    r"rip(?:ped|ping)?", r"threw", r"thrown", r"scrapp?(?:ed|ing)?", r"phas(?:ed|ing) out", r"sunset", r"gave up", r"giving up",
    r"done with", r"tired of", r"sick of", r"axed", r"nuked", r"dumped", r"yanked",
    r"(?:goes|go|has to go|must go|muss weg|geht|se va)(?=\W*$)", r"bye", r"say goodbye", r"pulled the plug", r"rausgeschmissen",
    r"rausgeworfen", r"rausgeflogen", r"eingestampft", r"schluss mit", r"in rente", r"ausgeschieden", r"gekuendigt", r"gegangen",
    r"echamos", r"sacamos", r"nos cargamos", r"desinstal\w+", r"se acabaron", r"instead of", r"rather than", r"no longer",
    r"any ?more", r"any longer", r"no more", r"drop(?:ped|ping|s)?", r"replac(?:e|ed|es|ing)", r"retir(?:e|ed|es|ing)",
    r"renam(?:e|ed|es|ing)",
    r"(?:is|are|was|were|has|get|gets) (?:\w+ )?(?:gone|out|off|history|over|dead|obsolete|dropped|left)",
    r"go(?:es)? (?:gone|history|over|dead|(?:out|off)(?=\W*$))", r"on (?:\w+ )?leave", r"retired", r"ruhestand", r"elternzeit",
    r"jubil\w+",
    r"de baja", r"erledigt", r"entfaellt", r"entfallen", r"hinfaellig", r"ueberfluessig", r"unnecessary", r"redundant",
    r"(?:switched|turned|shut) (?:off|down)", r"away from", r"rid of", r"getting off", r"got off", r"off of",
    r"remov(?:e|ed|es|ing)", r"decommissioned", r"deprecated?", r"abandon(?:ed|ing)?", r"scratch", r"forget",
    r"ditch(?:ed|es|ing)?", r"outgr(?:ew|own)", r"unmaintain\w+", r"left", r"swap(?:ped|ping)?", r"switch(?:ed|ing)? from",
    r"(?:moved?|moving|migrat\w+|port\w+) (?:\w+ )?(?:off|from)", r"out with", r"kill(?:ed|ing)?", r"used to",
    r"stop(?:ped)? using", r"isn't enough", r"not enough", r"statt", r"anstatt", r"nicht mehr", r"raus", r"geschichte",
    r"ersetz\w+", r"abgeloest", r"abgeschafft", r"vergiss", r"weg von", r"fliegt", r"loswerden", r"abgeschaltet", r"gestrichen",
    r"aufgehoben", r"ist (?:raus|weg|tot|fort)", r"werfen", r"schmeissen", r"verlassen", r"en vez de", r"en lugar de", r"ya no",
    r"quit(?:amos|ar|a|ado|aron)", r"dejamos(?: de)?", r"se acabo", r"se (?:ha|han) (?:ido|marchado|jubilado|acabado)",
    r"se fue", r"fuera", r"adios", r"olvid\w+", r"sustitu\w+", r"reemplaz\w+", r"retir\w+", r"elimin\w+", r"descart\w+",
    r"abandonamos", r"se va",
)  # fmt: skip
# A view that weighs two things, without deciding between them.
WEIGHED: Final = _cues(
    r"if you ask me", r"wenn du mich fragst", r"a mi", r"la verdad", r"(?:is|are) (?:just )?(?:nicer|easier|cleaner|better)",
    r"mir reich(?:t|en)", r"just add",
    r"i find", r"(?:nicer|easier|cleaner|better|more \w+) (?:for me|to me|than)", r"far more \w+",
    r"much (?:nicer|easier|cleaner|better)", r"i'd have", r"i would have", r"personally", r"ich finde",
    r"viel (?:besser|schoener|lesbarer)", r"mir gefaellt", r"me gusta mas", r"yo prefiero", r"ich haette", r"yo habria",
)  # fmt: skip
# A task is closed, in so many words.
CLOSED: Final = _cues(
    r"done", r"finished", r"fixed", r"solved", r"resolved", r"off (?:the|my|our) list", r"tick\w*", r"cross\w* off",
    r"completed?", r"taken care", r"took care", r"sorted", r"shipped", r"merged", r"erledigt", r"fertig", r"durch", r"behoben",
    r"abgegeben", r"abgeschlossen", r"geklaert", r"vom tisch", r"gemacht", r"hecho", r"listo", r"(?:esta|quedo|queda) lista",
    r"ya esta\w*", r"terminad\w+", r"resuelt\w+", r"arreglad\w+", r"solucionad\w+", r"cerrad\w+", r"entregad\w+",
)  # fmt: skip
# From one thing to another.
MOVED: Final = _cues(
    r"(?:mov|switch|migrat|chang|convert|port|transition)\w* (?:[\w'./-]+ ){0,4}(?:to|over to|onto|into)",
    r"(?:steigen|wechseln|ziehen|stellen|migrieren)\w* (?:[\w'./-]+ ){0,4}(?:auf|zu|nach)",
    r"(?:pasamos|nos vamos|migramos|cambiamos|movimos|mudamos)\w* (?:[\w'./-]+ ){0,4}(?:a|por)",
)  # fmt: skip
