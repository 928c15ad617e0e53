"""English: how people say what they decide, want, correct, know and still have to do. Patterns over lower-case text, one
quantifier deep.
"""

from typing import Final

WORDS: Final = "the is are was we you it that this not don't have has can will with for and but use our all they what"

CUES: Final = {
    # cut even without a comma behind
    "soft": r"(?:m+h+|eh+|tbh|imo|imho|ok(?:ay)?|k|so|oh|ah|hm+|and|but|also|well|btw|by the way|fyi|alright|yeah|yes|yep|lol"
    r"|haha|ugh|anyway|heads[- ]up|for your notes|like i said|as i said|in passing|one more thing|np|thx|thanks)",
    # cut from the front of a statement
    "filler": r"(?:m+h+|eh+|er|mh+|tbh|imo|imho|afaik|ok(?:ay)?|k|so|well|hm+|uh+|um+|ah+|oh|yeah|yes|yep|yup|right|alright"
    r"|all right|good|great|nice|cool|perfect|perf|fine|sure|thanks|thx|ty|lol|haha|wow|ugh|ouch|sweet|excellent|lovely"
    r"|awesome|amazing|beautiful|brilliant|and|but|also|then|now|btw|by the way|fyi|for your notes|for the record|heads[- ]up"
    r"|note|one more(?: thing)?|one thing|another thing|last(?: thing| one)?|next|anyway|honestly|basically|actually|please"
    r"|pls|plz|just|like i said|as i said|again|in passing|careful|remember|keep in mind|nit|np|makes sense|got it|i see"
    r"|i guess|i mean|you know|look|listen|hey|hi|hello|morning|evening|interesting|agreed|exactly|totally|true|fair|whoa"
    r"|wait|stop|no no|no|nope|nah)",
    # asks or requests, with or without a question mark
    "question": r"(?:what(?!ever| (?:i|we|you) )|what's|whats|why|how(?!ever| (?:we|to|you|i) [^?:]{2,40}:)|which|who|who's"
    r"|whose|where|when (?:did|do|does|is|are|was|will|should|can)|can (?:you|we|i|u)|could (?:you|we|i|u)|would (?:you|it"
    r"|that)|will (?:you|it|that)|do (?:you|we|i|they)|did (?:you|we|i|they|it)|does|is (?:it|there|that|this) (?:ok|okay"
    r"|possible|safe|fine|true|necessary|worth|normal|enough|too|a)|are (?:you|there|we|they)|should (?:we|i|it)|shall (?:we"
    r"|i)|any (?:idea|thoughts|chance)|have (?:you|we) (?:ever|already|got)|has (?:anyone|anybody|somebody)|thoughts|mind if"
    r"|wonder(?:ing)? (?:if|whether)|i wonder|not sure (?:if|whether|how|what|why)|no idea (?:if|whether|how|what|why)"
    r"|tell me|show me|explain|question)\b",
    "ask": r"\b(?:can|could|would|will) you\b|\bwhat do you think\b|\bdo you (?:think|know)\b|\bany (?:idea|thoughts)\b"
    r"|\bthoughts\?",
    # said of what may be, not of what is
    "maybe": r"\b(?:maybe|perhaps|possibly|might|hypothetical(?:ly)?|theoretically|in theory|some ?day|one day"
    r"|(?:at some point|eventually)(?!.{0,80}(?:has to|have to|needs? to|must))|could (?:also |just |always )?(?:use|go|move"
    r"|try|switch|do|have|be|add|drop|put|take|make|live)"
    r"|would be (?:nice|cool|great|good|easier|better|crazy|interesting)|would it be|we could|one could|you could|i could"
    r"|i might|we might|thinking (?:about|of)|toying with|considering|tempted to|wondering|not sure|dunno if|no idea"
    r"|i guess we|leaning|either .{1,60} or|torn between|on the fence|an option|options? (?:are|is|would)|wish"
    r"|i'd say(?! we (?:use|go|take|keep|drop|stay|stick)| \(?[a-e]\)?(?=[,.]|$)| the \w+ one)|would have been|would've"
    r"|should have|could have|kind of want)\b",
    "open": r"\b(?:no decision|not decided|undecided|let me think|have to think|need to think|think about it|sleep on it"
    r"|not (?:yet )?sure|we'll see|open question|to be decided|tbd|not promising|ask(?:ing)? around|park (?:it|that)"
    r"|leave (?:it|that) (?:for now|open)|don't know yet|haven't decided|up in the air|it (?:all )?depends|just curious"
    r"|just asking|just thinking aloud|just saying|nobody is planning)\b",
    "withdrawn": r"\b(?:i'm not saying|not saying (?:that )?we|i am not saying|i don't mean|just kidding|kidding|joking"
    r"|only joking|j/k|jk|forget (?:it|that|what i said)|never ?mind|nvm|scratch that thought|not that (?:i|we) (?:want|need"
    r"|would)|i didn't say|nobody said|doesn't mean (?:we|that)|don't get me wrong)\b|^(?:i know|i get that|granted)\b",
    "elsewhere": r"\b(?:at my (?:last|old|previous|former)|in my (?:last|old|previous|former)|my (?:last|old|previous"
    r"|former) (?:job|team|company|employer|place|project)|back (?:in the day|then|when|at)|used to|years ago"
    r"|in a former life|previous(?:ly)? (?:employer|job|we)|when i was at|in the old days|good times|good old|once upon"
    r"|historically|(?:at|in) (?:his|her|their) (?:company|team|job|place|shop|project))\b",
    "others": r"^(?:they (?:always|never|usually|all|just|only|say|claim|want)|people|folks|everyone else|everybody else"
    r"|other (?:teams|people|companies|projects)|some (?:people|teams|folks)|most (?:people|teams)|the other team"
    r"|the (?:\w+) (?:guys|folks|people) (?:always|never|usually)|(?:he|she) (?:always|never|usually)|the (?:docs?|readme"
    r"|article|blog|page|book|manual|tutorial|guide|internet|forum) (?:says?|claims?|recommends?|suggests?|tells?))\b"
    r"|\bthey (?:always|never|usually|say|said)\b|\b(?:says|(?<!i )said|claims|told me|suggests|recommends|i (?:read|heard"
    r"|overheard) (?:that|about|somewhere|on|an?|in an?|it|the (?:docs?|article|blog))|i saw (?:a |an |that|somewhere|people)"
    r"|i've (?:read|heard|seen (?:a |an |that|people))|apparently"
    r"|supposedly|allegedly)\b(?! (?:no|yes|ok)\b)",
    # of this moment only
    "momentary": r"\b(?:right now|today (?:i|we|is)|at the moment|currently (?:failing|broken|down|looking|trying)"
    r"|since (?:this morning"
    r"|yesterday|last night|the (?:last )?(?:deploy|update|upgrade|release|merge))|this morning|last night|yesterday"
    r"|just (?:now|saw|got|noticed|ran|tried|asked|pushed|merged)|again(?! and again)|fail(?:s|ed|ing)?|broke|broken"
    r"|crash(?:es|ed|ing)?|crashloop\w*|throws?|throwing|hang(?:s|ing)?|stuck|timing out|timed out|times out|flaky|weird"
    r"|strange|slow|confus\w+|died|dies|red again|doesn't (?:work|build|compile|start|run|load)|not working|won't (?:start"
    r"|build|compile|run|load)|isn't working|complain(?:s|ing|ed)|looks? (?:good|fine|ok|great|right|wrong|off|odd|weird|like"
    r"|done)|works?(?: now| fine| great)?$|green|seems?|got (?:an?|this|the) error|have a look|take a look)\b",
    "ack": r"(?:thanks?|thank you|thx|ty|cheers|bye|cya|see (?:you|ya)|later|good night|gn|nice one|good (?:job|call|bot"
    r"|catch|point|question)|well done|great job|lgtm|ship it|go ahead|go|do it|do that|sounds good|looks good|yes|yep|ok"
    r"|okay|cool|sure|perfect|lol|haha|wow|beer|i'm (?:off|back|done)|back (?:at|from|to)|off to|brb|one sec|hang on"
    r"|hold on)\b",
    # rules that are meant to last
    "standing": r"\b(?:^(?:please )?treat \w+s as|not allowed to|not permitted|forbidden|prohibited|(?:tell|ask|warn|ping"
    r"|notify) me (?:first|before|whenever)|we (?:don't|do not|never) \w+ .{0,40}here$|nothing (?:gets|is|goes) \w+ed"
    r"|(?<=: )[\w`-]{1,30} only$|(?:answer|reply|respond|talk to me|speak) (?:me )?(?:in|more|less|shorter|briefly|only"
    r"|without)|ask (?:me )?before|always|never(?! ?mind|theless| (?:got|did|had|been|seen|was|were|signed|worked|used|tried"
    r"|heard|finished|happened|knew|thought))|from now on|from here on|going forward|from today(?: on)?|henceforth"
    r"|for the future|in (?:the )?future|every time|each time|whenever (?:you|we|i|somebody|someone|there)|by default"
    r"|as a (?:general )?rule|in general|rule of thumb|no exceptions?|without exceptions?|don'?t (?:you )?ever|do not ever"
    r"|not ever|under no circumstances|in (?:all|every|any) cases?|at all times|no matter what|stop \w+ing|(?:^|please |pls "
    r"|and |you )(?:do not"
    r"|don'?t) .{1,80}\b(?:any ?more|any longer|again|unless|without)|^no \w+ing\b(?!:)|off[- ]limits|hands off"
    r"|keep (?:your )?hands off|append-only|read-only|nobody (?:edits|touches|changes|pushes|merges|commits|deploys|runs"
    r"|writes|uses)|no ?one (?:edits|touches|changes|pushes|merges)|must(?:n't)? (?:not |never |always |be|stay|go|have|use"
    r"|pass|come|include|contain|carry|start|end|live|run)|may only|only ever|ask (?:me |us |\w+ )?(?:first|before)"
    r"|without asking|(?<=, )ever(?=,|$)|^(?:just |max |only )?one [\w-]+ per [\w-]+|check with (?:me|us|\w+) (?:first"
    r"|before)|(?:before|after) (?:every|each|any) (?!day|week|month|year"
    r"|monday|tuesday|wednesday|thursday|friday|morning|night|chance|idea|moment|hour)\w+|(?:every|each) (?:\w+ )?(?:commit"
    r"|push|pr|pull request|merge|release|deploy\w*|change|migration|file|endpoint|module|function|class|branch|query|table"
    r"|component|service|ticket|build|public \w+|new \w+) (?:gets|needs|has|must|goes|should|comes|carries|starts|ends|is)"
    r"|you (?:may|can) .{1,60}(?:yourself|without asking|on your own)|you never|you always|not on your own|(?:change|code"
    r"|feature) freeze|freeze (?:on|until)|frozen|(?<=, )as (?:before|usual)$|stick to|(?:has|have|needs?) to stay|(?:stays?"
    r"|remains?) (?:under|below|above|frozen|untouched|off|out of)|for tests? only|(?:only|just) (?:for|in|on|from|via"
    r"|through|by|with|after|where) |(?<=\w )only (?:if|when)|unless i (?:say|ask|tell)|until i (?:say|tell)|^still (?:no"
    r"|zero|only)|whatever you do|(?<!this )(?<!that )have to be|^(?:please )?keep \w+s (?:under|below|short|small|simple"
    r"|minimal|out of|away|separate|at|to) |^(?:please |pls |and |also )?(?:don'?t|do not|avoid|refrain from) \w+ (?!it\b"
    r"|that|this|the\b|them|me\b|these|those|there|here|your|anything yet)(?:\w+ )?(?:\w+ )?\w+s\b(?!.{0,60}\b(?:yet|for now"
    r"|right now|today))|(?:all|every|any) new \w+|belongs? (?:in|under|into)|(?:goes|go) (?:under|into) |^(?:when"
    r"|if) you (?:write|add|create|change|touch|make|commit|push|open|name|use|edit|generate|need|rename|delete)\b"
    r"|^(?:please |pls )?use [\w`-]+,? (?:not|never|over|rather than) |only (?:she|he|i|we|\w+) (?:may|touches|edits|changes"
    r"|approves|merges|deploys)|needs? (?:an? |two |one |\w+'s )?(?:approvals?|reviews?|sign-?offs?|ok from))\b",
    # a rule said as a bare "no X in Y"
    "ban": r"^(?:and |also |please |pls )?no (?!idea|need|problem|worries|thanks|clue|rush|hurry|decision|code yet|one\b"
    r"|longer|matter|more\b|wonder|time|big deal|pressure|chance|way\b|doubt|good\b"
    r"|prob)[\w`.*@/+-]+(?: [\w`.*@/()+-]+)?(?: [\w`.*@/()+-]+)? (?:in|outside|without|on|for|inside|anywhere|from|with"
    r"|unless|to|at|please|pls|here|after|before)\b",
    "style": r"\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|summar(?:y|ies)|explanations?|messages?|tone|emojis?|bullets?"
    r"|language|english|german|spanish|verbose|terse|concise|short|brief|jargon|talk to me|call me|address me|code comments"
    r"|apolog\w+|flatter\w*)\b",
    "polite": r"\b(?:please|pls|plz)\b",
    "prefer": r"\b(?:not (?:so |too |very )?(?:keen on|into|crazy about|fond of)|(?:i'm|i am) (?:keen on|into)"
    r"|i'm a sucker for|scares? me|(?<!ok )(?<!okay )(?<!fine )(?<!works )(?<!enough )(?<!good )(?<!do )for me$"
    r"|that's how i (?:read|work|like|think)|(?:smaller|shorter|simpler|less) is (?:better|more)|i like .{1,40} best"
    r"|i (?:really |much |usually |generally |always |strongly |personally |kinda |still |just |do )?(?:prefer|(?:like"
    r"|love) (?!it\b|that\b|this\b|your|the way|where|how)|hate|dislike|favou?r|loathe|detest|despise|appreciate|value|enjoy"
    r"|can't stand|cannot stand|can't read|can't bear|don't (?:like|love|want to see|care for|enjoy))|i'?d (?:much |really "
    r"|always )?(?:prefer|rather (?!you|know|not (?:now|today))|have taken)|i would (?:much |always )?(?:prefer|rather(?! you))"
    r"|i'm (?:not )?(?:really )?an? (?:big |huge )?(?:fan|friend|believer)|(?:not|never|no|big|huge|more) (?:a |an )?(?:big "
    r"|huge |real |great )?(?:fan|friend) of|my (?:personal )?preference|i'm (?:the kind|more of|old[- ]school|allergic|picky"
    r"|very picky|a bit picky)|drives? me (?:nuts|crazy|mad|up the wall)|gets on my nerves|pet peeve|makes my (?:eyes|head)"
    r"|i(?:'m| am) (?:rather |quite |very )?(?:fond of|partial to|used to)|personally i|can't stand|in what you write for me"
    r"|i find .{1,40} (?:easier"
    r"|harder|more readable|unreadable|ugly|annoying|hard to)|keep (?:them|it|your \w+|the \w+|\w+) (?:short|brief|small"
    r"|terse|concise|simple|to (?:a|one|two|three|four|five|\d))|(?:the )?(?:shorter|smaller|simpler|fewer) the better"
    r"|works best for me|suits me|(?:is|are) (?:not )?my (?:thing|style|jam|cup of tea)|^for me\b)\b",
    "wants": r"\bi(?:'d| would) (?:really )?(?:like|love) (?:to|a|an|you|some|it|the)\b|\bi want (?:you|to)\b",
    # choices
    "decide": r"\b(?:^(?:sticking|moving|dropping|switching|keeping|ditching|replacing|migrating|staying) "
    r"|that's what we(?:'ll| will)? (?:use|do|take|go)|^(?:no|yes) to |^with .{1,40} instead of|(?:we're|we are"
    r"|we'll be|we will be) (?:now )?(?!looking|trying|seeing|getting|having|working|wondering|thinking|talking|hitting"
    r"|running|not|still|just|missing|testing|debugging|reading|waiting|planning|losing|using|going|doing|coming|being"
    r"|considering|leaning|asking|saying|hoping|starting|building|fixing|joking|kidding|counting|sitting|writing|calling"
    r"|paying|dealing|facing|blocked|wasting|missing|guessing|assuming|feeling|learning|leaving for|fighting|stuck|measuring"
    r"|investigating|watching|checking|finishing|reviewing)\w+ing|the new (?:default|standard)|^(?:please )?(?:ditch|scrap"
    r"|axe|retire) |let'?s (?:just |rather |then |simply |not )?(?!see|look|check|start|try\b|talk|discuss|run|fix|test|debug"
    r"|continue|wait|think|go (?:on|ahead|through|over|step|there|home)|go$|do (?:it|that|this)|get (?:started|going|back|to)"
    r"|hope|find|focus|begin|move on|review|walk|figure|dig|first|worry|finish|wrap|call it a|stop|leave it|pretend|say|be"
    r"|assume|hear|ignore|ask|revisit|read|clean|not|explore|measure|profile|compare|recap)\w+|(?:we|i)(?:'re| are|'m"
    r"| am) (?:now |all |just |officially |going to )?(?:going (?:with|for|back|to [\w@/-]+ for)|getting off|moving|switching"
    r"|dropping|staying|sticking|ditching|replacing|migrating|keeping|adopting|retiring|abandoning|standardi[sz]ing"
    r"|getting rid|settling|leaving|splitting|using .{1,60} (?:now|instead|from|then)|done with|on .{1,30} now|not (?:doing"
    r"|using|going|pulling|adding|supporting))|(?:we|i)(?:'ll| will| shall) (?:just |rather |now |simply |only )?(?:use"
    r"|go (?:with|for)|take|keep|stay|stick|drop|move|switch|adopt|settle|build|base|standardi[sz]e|support|not (?:use"
    r"|support|do)|call it|ship with|replace|retire|live with)|(?:we|i)(?:'ve| have)? (?:finally |now |just |all )?(?:decided"
    r"|agreed|settled|chose|chosen|picked|opted|switched|moved (?:\w+ )?(?:\w+ )?(?:to|from|off|away)|dropped|ditched"
    r"|migrated|replaced|outgrew|outgrown|went with|voted|standardi[sz]ed|abandoned|write our own|go with|take the|stay with"
    r"|stick with|stick to|skip)|(?:it's|its|it is) going to be|going with|go with|stick with|sticking with|settled on"
    r"|settle on|opt(?:ed|ing)? for|(?:new plan|plan|decision|verdict|conclusion|outcome)(?: is)?(?=:)|decided(?=:)"
    r"|the plan is|decision is|voted|signed off on|agreed on|i'd go (?:for|with)|(?:go|going|roll) back to|(?:cap"
    r"|limit) .{1,40} (?:at|to) |final answer|we take|i'll take|take the|i(?:'ll| will) go (?:with|for)|the choice is|verdict"
    r"|call it|make it (?:\d|one|two|three|four|five|six|seven|eight|nine|ten|a |an |the )|(?:switch|move|migrate|swap"
    r"|convert|port|change) (?!the (?:function|file|class|method|button|order|line|test|import|variable|code|block|name|title"
    r"|text|label|value|call)\b|this|that|it\b|them\b)(?:[^,.]{1,60} )?(?:to|for|over to|from) |replace [^,.]{1,60} (?:by"
    r"|with) |get rid of|in favou?r of|i take that back|take that back|changed my mind|change of plans?|on second thoughts?"
    r"|second thoughts?|scratch that|eat my words|i was wrong about|after all|(?:is|are) (?:a no|a no-go|out|gone|dead"
    r"|enough for us|the way to go|off the table|history|overkill for us|deprecated(?: now)?|good enough for us"
    r"|fine for us)(?: from me| for us| then| now)?$|(?:goes|go) (?:out|away)$|no longer|isn't .{1,40} any ?more|(?:nothing"
    r"|nobody|no one) .{1,40} any ?more|aren't .{1,40} any ?more|not .{1,40} any ?more|(?:goes|go|moves|move|going|can go"
    r"|gets bumped|is bumped|bumped|raised|lowered|drops|down|up) (?:from [\w. ]{1,20} )?to (?:v?\d[\w.]*|[\w-]+ \d[\w.]*"
    r"|true|false|on\b|off\b)|stays?|remains?|keeps? (?:its|their)|option [a-e\d]|will do$|i want (?!you|to|it|this|that|them"
    r"|the (?:reason|cause)|done)|(?:must|should) be replaced|(?:sounds|feels|seems) right|we(?:'d)? rather (?:use|have|go|do"
    r"|keep)|(?:agreed|concluded|decided|settled|resolved|determined) (?:that|to|on|with)|i'd like us to|we(?:'ve| have) (?:come"
    r" down|landed|ended up)|i'd say we (?:use|go|take|keep|drop|stay|stick)|^(?:please )?(?:keep|store|retain|hold|pin"
    r"|save) (?!it\b|that|this|them|going|in mind|me\b|an eye|the (?:change|old"
    r"|same|current|existing))[^,]{2,40} (?:for|at|to|in|on|under|as|until|till|per) )\b",
    # "X it is", "X then", said of something the talk was about
    "it_is": r"^(?!that|what|this)[^,]{2,70}? it (?:is|stays|shall be|will be)(?: then| for .{1,30})?$",
    "then": r"^(?:ok |okay |alright |right |fine |so )?[^,]{2,60}(?<!by)(?<!until)(?<!till)(?<!since)(?<!back) (?:then"
    r"|instead)$|^(?:rather|still|so|alright|ok|then|fine)[,:] ",
    # puts right what was said or done
    "wrong": r"^(?:no(?=[,.!]|$)|no (?:it|its|it's|that|that's|we|we're|the|use|there|there's|i|you|not)|nope|nah|no no|wrong"
    r"|incorrect|not (?:quite|that|there|the|from|like|in|on|a|an|with|true|right)|that'?s (?:not|wrong|incorrect|the wrong"
    r"|outdated|old)|that (?:is|was) (?:not|wrong|the wrong)|this is (?:not|wrong)|that \w+ (?:doesn't|does not|isn't|is not"
    r"|no longer|was)|wait(?! for| until| till| a)|stop(?! the)|hold on|hang on|hey|whoa|hmm? no|oh no|ah no|er(?=[,. ])"
    r"|uh(?=[,. ])|actually|you(?:'ve| have)? (?:got|misread|misunderstood|assumed|wrote|used|put|confused|picked|mixed|named"
    r"|guessed|are wrong)|it'?s not|it isn't|there(?:'s| is) no|we don't (?:have|use|run|do|deploy|want)(?!.{0,80} any ?more)"
    r"|we're not|we aren't|don't (?:use|call|touch)|correction|almost|close,? but|looks? wrong|i said|i meant|sorry,? (?:no"
    r"|i meant|wrong)|nearly)\b",
    "wrong_in": r", not (?!today|now\b|yet|tomorrow|this week|urgent|sure|that i)(?:the |a |an |in |on |from |per "
    r"|by )?[\w`'\"]|\b(?:not [\w`'\".-]+, (?:it's|but)|it'?s (?:actually"
    r"|really)|should(?:'ve| have) been|has been archived|been archived|that's (?:not|the old)|isn't the|is not the"
    r"|it should be|should be .{1,30} (?:not|instead))\b",
    # left to do
    "task": r"\b(?:(?:^|(?<=, ))i (?:need|have) to (?!know|see|understand|think|say|admit|check|ask you|go|leave|run|be\b"
    r"|look)|(?:has|needs) to be \w+ed (?:before|by|until|soon|first)|remind me|reminder|to-?dos?|don'?t (?:let me "
    r"|let us )?forget|(?:we|i|you|somebody|someone|it|they)? ?still (?:need|needs|have|has|must|owe|to do|open|missing|to be"
    r"|want|outstanding|pending)|left to do|remains to be|outstanding|needs to (?:be|get) .{1,40}(?:before|by|after|until"
    r"|later|once)|(?:put|add|have|get|stick|note) .{1,60} (?:on|to|in) (?:the|my|our|your) (?:list|backlog|todo|board|agenda"
    r"|roadmap)|on the (?:todo|backlog)|for the backlog|follow[- ]?up|(?:somebody|someone|one of us) (?:has to|must|needs to"
    r"|should)|is planned for|are planned for|scheduled for|open points?|open items?|action items?|loose ends?|later task"
    r"|ask me again|note to self|i (?:still )?owe|needs? (?:updating|fixing|testing|cleaning|doing|checking|reviewing"
    r"|refactoring|renewing|migrating|rewriting)|i(?:'ll| will) (?:do|handle|take care|put|ask|write|send|call|raise|fix|add"
    r"|check|talk|finish|rotate|update|look|get|bring|ping|open|file|set|prepare|clean) .{1,80}(?:tomorrow|next|later"
    r"|this week|tonight|on monday|on tuesday|on wednesday|on thursday|monday|tuesday|wednesday|thursday|friday|weekend|soon"
    r"|when|once|after|before)|when .{1,60} (?:is over|is done|is through|is out|lands|is back|arrives?)(?=[:,])"
    r"|on my (?:list|plate|desk)|(?:we|i)(?:'ll| will)? (?:have|need|must|ought) to .{1,100}(?:before|after|until|by|next"
    r"|once|later|tomorrow|this week|when|some ?time|soon)|(?:before|after|until|by|once) .{1,80} (?:have to|has to|must"
    r"|need to|needs to)|(?:must|has to|have to|needs to|need to) (?:be|happen|get) .{1,60}(?:by|before|until) |want (?:it "
    r"|that |this |them )?(?:done|finished|ready) (?:by|before)|(?:next (?:week|month|sprint|quarter)|tomorrow|this week"
    r"|later|on (?:monday|tuesday|wednesday|thursday|friday))\b.{0,60} (?:have to|need to|must|has to|needs to)"
    r"|what i do want for|for (?:v?\d+\.\d+|the next (?:release|version|sprint)) (?:i|we) (?:want|need)|next (?:weekend"
    r"|sprint|week|month|quarter|time|session)$|(?:keep|remove|drop|delete) .{1,80} (?:in|by|until|till|after) (?:january"
    r"|february|march|april|may|june|july|august|september|october|november|december|q[1-4]|summer|spring|autumn|winter"
    r"|next))\b",
    "later": r"\b(?:tomorrow|next (?:week|weekend|sprint|month|quarter|year|release)|later|this week|by (?:monday|tuesday"
    r"|wednesday|thursday|friday|the end|end of|eow|eod|q[1-4]|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|before (?:the|we|april|may|june|july|august|september|october|november|december|january"
    r"|february|march) ?\w*|after (?:the|we)|not today|not now|not yet|on (?:monday|tuesday|wednesday|thursday|friday)"
    r"|once (?:the|we|that)|in (?:january|february|march|april|june|july|august|september|october|november|december))\b",
    "done": r"\b(?:that's off the list|off the list|can go now|is done$|already done|is finished|(?:todo|item|task"
    r"|ticket) can (?:go|be closed)|been fixed|is fixed|has been done|checked off|got its)\b",
    # how things are done
    "procedure": r"(?:^(?:when|if) .{3,50} you (?!want|need|can|could|have|know)\w+ |\b(?:goes|works|go|work"
    r"|done) like (?:this|so|that)\b|\bthe (?:flow|process|procedure|steps?|drill|routine|sequence|recipe|order) (?:is|are"
    r"|here|goes|for)\b|\bsteps?(?: are)?:|\b(?:recipe|procedure|checklist|runbook|workflow|routine|how-?to)\b[^:]{0,40}:"
    r"|\bhere'?s how\b|\bhow (?:we|to|you) \w+[^:]{0,40}:|^to [\w-]+ [^:,]{2,60}[:,] ?(?:you |first |just )?[`\w]|^(?:for"
    r"|when|if|after|before) [^:]{3,60}: |\b(?:release|deploy\w*|rollback|backfill|hotfix|backup|restore|setup|onboarding"
    r"|migration|publishing|build)[\w ]{0,20} (?:here )?(?:=|is:|are:|means:))",
    "step": r"(?:\bthen\b|\bfirst\b|\bafter that\b|\bfinally\b|\bonce\b|\bwait for\b|->|→|\bafterwards\b|\bstep \d)",
    "by_command": r"(?:: `[^` ]{1,40} [^`]{1,80}`$|\b(?:with|via|using|through|by running|run|runs|use|type|start"
    r"|call)\b[^`]{0,20}`[^`]{3,80}`|`[^`]{3,80}` (?:should |will |does |re)?(?:rebuilds|builds|starts|runs|fixes|does"
    r"|regenerates|resets|deploys|creates|cleans|rebuild|fix|build|start|run|do|regenerate|reset|deploy)\b)",
    # one-off orders: verbs that a prompt begins with
    "order": r"(?:please |pls |plz |now |then |and |also |just |go ahead and |ok |you can |you may |feel free to |try to "
    r"|first |next |quickly )*(?:run|fix|add|check|look|show|make|write|create|update|remove|delete|push|commit|try|test|read"
    r"|give|tell|explain|list|find|open|put|use|take|go|do|have|let|leave|keep|bump|ship|rename|revert|merge|deploy|start"
    r"|stop|continue|generate|split|move|set|change|apply|wait|see|rerun|retry|refactor|implement|extract|convert|replace"
    r"|switch|swap|drop|undo|rebase|squash|bring|build|compile|install|uninstall|upgrade|downgrade|pin|describe|summari[sz]e"
    r"|compare|measure|profile|debug|investigate|clean|format|lint|document|draft|propose|suggest|review|verify|confirm"
    r"|ignore|skip|disable|enable|turn|copy|paste|send|ask|call|print|log|wrap|inline|port|translate|sketch|plan|prepare"
    r"|figure|get|pull|fetch|download|regenerate|reset|restart|kill|tag|release|publish|cut|roll|don't|do not|dont|proceed"
    r"|carry|finish|close|reopen|mark|note|sort|group|mention|attach|link|hook|wire|expose|hide|return|throw|catch|handle"
    r"|import|export|spin|dig|hold|come|apply|walk|point|feel|sign)\b",
    # sentences that say how something is
    "fact": r"(?:'s|'re)\b|\bwe (?!could|should|might|may|would|can\b|saw|see|shall)\w+|\b(?:is|are|isn't|aren't|lives?|runs?"
    r"|owns?|belongs?|sits?|uses?|talks? to|reads?|writes? to|points? to|listens? on|reports?|handles?|reviews?|maintains?"
    r"|stores?|holds?|contains?|comes? from|goes? (?:to|through|via|out)|needs?|requires?|has|have|depends? on|expects?"
    r"|rejects?|accepts?|supports?|serves?|hosts?|means|called|named|takes|follows?|promised|gets?|ends? in|starts? (?:on"
    r"|with|at)|regenerated|moved to|left|joined|fixed|renamed|repointed|migrated|upgraded|replaced|merged|retired"
    r"|takes? over|took over|approves?|deploys?|triggers?|only has|speaks?|allows?|sends?|arrives?|expires?|costs?|ships?"
    r"|pinned|don't have|doesn't|don't|will (?:be|have|use|report|go|stay|get|run|show|live|move|come|start|need))\b",
    "info": r"^(?:fyi|btw|by the way|heads[- ]up|for (?:your|the) (?:info|notes?|record|context)|note|for context|context"
    r"|just so you know|so you know|in case you wonder|background|good to know|remember|keep in mind|also)\b",
    "weak_subject": r"^(?:i|it|that|this|there|you|he|she|they|everything|all|nothing|something|anything|those|these|which"
    r"|what)(?:'s|'m|'re|'d|'ll|'ve)?\b",
    "felt": r"\b(?:nice|nasty|great|cool|ugly|fine|funny|annoying|a mess|amazing|awesome|terrible|horrible|sad|happy|glad"
    r"|sorry|tired|fun|boring|curious|good news|bad news|beautiful|yikes|crazy|lovely|clear|enough|too (?:long|slow|big|much)"
    r"|love it|like it|good to know|interesting|wonder|i know|hope|think|believe|guess|afraid|worried)\b",
    "past": r"\b(?:we|i|he|she|they) \w+ed\b|\b(?:was|were|did|had|got|went|came|tried|found|saw|said|told|asked|opened|wrote"
    r"|made|took|happened|broke|(?<!a )(?<!the )fixed|ran|worked|helped|gave|died|grew)\b",
    "why": r"\b(?:because|since (?!january|february|march|april|may|june|july|august|september|october|november|december|last"
    r"|yesterday|v?\d|the (?:last|update|upgrade|release)|mid|then)|as we|as it|otherwise|so that (?!one)|due to|the reason"
    r"|that's why|'cause|cause|bc|cuz|given that|thanks to)\b",
    "instead": r"\b(?:instead of|rather than|over|not|no|drop(?:ping|ped)?|ditch(?:ing|ed)?|replac(?:e|es|ing|ed)|outgr(?:ew"
    r"|own)|swap(?:ping|ped)?|retir(?:e|ing|ed)|away from|from|get(?:ting)? rid of|no longer|isn't)\s+(?:the |our "
    r"|using )?([\w`@/.+-]+(?: [A-Z][\w.]+)?)",
    "pronoun": r"^(?:it|that|this|they|those|these|he|she|that one|this one|that file|this file)(?:'s|'re|'ll|'d)?\b",
    "reminds": r"\b(?:remember|keep in mind|for the future|for next time|rules?|conventions?|as always|reminder|house rules"
    r"|careful)\b",
    "changed": r"\b(?:now|by now|these days|any ?more|no longer|since (?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december|last (?:week|month|year)|20\d\d|v\d)|as of|until (?:the|january|february|march"
    r"|april|may|june|july|august|september|october|november|december))\b",
    "role": r"\b(?:^every \w+ (?:gets|has|is|uses|runs|owns|comes)|(?:every|each) (?:night|day|morning|evening|week|month"
    r"|quarter|hour|monday|tuesday|wednesday|thursday|friday|weekend)|nightly|hourly|weekly at|is (?:our|the new|the|my"
    r"|responsible for|in charge of|on) (?:\w+ )?(?:\w+ )?(?:guy|lead|manager|owner|contact|person|admin|maintainer|dev"
    r"|designer|reviewer|team|boss|client|customer|engineer|architect|expert|pm|po|dba)|there(?:'s| is| are) (?:\d+|one|two"
    r"|three|four|five|only|a separate) |^(?:the |our )?\w+s (?:can|can't|cannot|may not|aren't allowed to|are allowed to) "
    r"|we have (?:\d+|one|two|three|four|five|six|seven|eight|no|only|a single) |owns|maintains|takes care of"
    r"|is responsible for|is in charge of|lives? (?:in|under|at|on)|is called|are called|is named|belongs? to|runs? (?:on|in"
    r"|at)|stands for|is short for|reports to|signs off|questions go to|(?:hosted|deployed|stored|kept|located) (?:in|on|at"
    r"|under))\b",
    "if": r"\b(?:what if|suppose|supposing|imagine|hypothetical(?:ly)?|if (?:we|i|you|they) (?:used|moved|went|had|were|ever"
    r"|switched|did|wanted|could|would|were to)|would it be|would have been|would\'ve)\b",
    "accuses": r"\b(?:you(?:\'ve| have)? (?:wrote|assumed|used|picked|put|named|started with|mixed up|confused|took|added"
    r"|hard-?coded)|(?:is|are|was|were) wrong|wrong (?:one|table|file|port|branch|name|place|way|target)|not that one"
    r"|that\'s (?:wrong|outdated|old|not it)|i (?:noticed|just noticed|see|saw) (?:that )?(?:you|in your))\b",
    "manner": r"\b(?:in|as|with|without|like|only|per|via|through|to|by)\b",
    "heading": r"\b(?:to remember|to keep in mind|to note|important|rules?|conventions?|polic(?:y|ies)|nits?|style (?:things?"
    r"|notes?|points?)|guidelines?|standing orders?|ground rules?|principles?)\b",
    "introduces": r"\bthis is (?!the|a|an|it|not|my|our|what|how|why|where|so|too|very|fine|ok|good|great|wrong|just|still"
    r"|now|for|in|on)[a-z]+(?:,| here| from|$)|^[a-z]+ (?:here|this time|speaking)\b|\bi (?:took|take|have taken) over\b"
    r"|\bi (?:maintain|own|lead|am responsible|look after)\b|\bi'm (?:responsible|in charge|the new|new (?:here|on|to))\b"
    r"|\bmy name is\b|\bi'm on this (?:repo|project)\b",
    "each": r"\b(?:for|on|with|in|at|to) (?:every|each|any) (?!day|week|month|year|monday|tuesday|wednesday|thursday|friday"
    r"|morning|night|chance|idea|moment|hour)\w+",
    "picks": r"^i'd say (?:\(?[a-e1-5]\)?(?=[,.]|$)|the \w+ one)|^(?:option )?\(?[a-e1-5]\)(?=[\s,.:]|$)|^(?:the )?(?:first"
    r"|second|third|last|latter|former)(?: one| option)?(?=[,.:]|$)|^(?:both|neither)\b",
    "finite": r"\b(?:is|are|was|were|goes|stays|has|lives|runs|needs|gets|comes|uses|must|should|will|can|can't|cannot|keeps"
    r"|takes|costs|means|belongs|ends|starts|expires|lands|shows|happens|come from|live in|fail)\b",
    "complement": r"\b(?:that|what|if|whether|why|how|which|who|where|when|so|until|because|since|as|whatever|sure|the way)\b",
    "rest": r"\b(?:only|everything else|the rest|all others?|everyone else|otherwise)\b",
    "concludes": r"(?:^|[\s,.:])(?:so|then|ok|okay|alright|fine|still|right|yeah)\b",
    "compound": r"^(?:commit|test|log|release|build|error|merge|code|branch|file|class|function|pull|variable|table|column"
    r"|plan|import|export|review|format) (?:messages?|names?|files?|notes?|logs?|builds?|comments?|requests?|cases?|scripts?"
    r"|retention|levels?|branch(?:es)?|reviews?|style|data|runs?|servers?|coverage|order|statements?)\b",
    "puts": r"^(?:(?:please )?use|we use|we're|we have|we do|take (?!it|that|this|them)\w+|it'?s|try|call|make it|with|on|in"
    r"|at|the)\b",
    "reverses": r"\b(?:i (?:eat my words|take (?:that|it) back|was wrong|stand corrected)|(?:i've |i )?changed my mind"
    r"|on second thoughts?|scratch that|change of plans?)\b",
    "omits": r"\byou(?:'ve| have)? (?:forgot|forgotten|missed|broke|broken|left out|skipped|overlooked)\b",
    "everywhere": r"\b(?:everywhere|across the board|throughout)\b",
    "without": r"^(?:for [\w.]+ )?no (?!idea|need|problem|worries|thanks|clue|rush|hurry|decision|code|one\b|longer|matter"
    r"|more\b|wonder|time|big|pressure|chance|way\b|doubt|good\b|prob|luck|change|difference|errors?|news|it\b|that|this"
    r"|the\b|we|i\b|you|there|not|no\b|wait|stop|but|sorry|offence|harm|kidding|shit|biggie)\w+",
    "owed": r"\b(?:needs?|wants?|due|has to|have to|must|should|ought to|is to|are to|pending|missing|expires?|comes?|owe)\b",
    "due": r"\b(?:tomorrow|next (?:week|weekend|sprint|month|quarter|year|release)|some ?time|soon|later"
    r"|by (?:the )?(?:\d+(?:st|nd|rd"
    r"|th)|monday|tuesday|wednesday|thursday|friday|end of|eow|q[1-4]|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|(?:in|before|after|until|end of) (?:january|february|march|april|may\b(?! be)|june|july|august"
    r"|september|october|november|december|feb|jan|mar|apr|aug|sep|oct|nov|dec|summer|autumn|winter|spring|easter|christmas))\b",
    "solely": r"^[\w` -]{3,40} only$",
}  # fmt: skip
