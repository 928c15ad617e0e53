"""Spanish: how people say what they decide, want, correct, know and still have to do. Patterns over lower-case text, one
quantifier deep.
"""

from typing import Final

WORDS: Final = (
    "el la los las que de en no es un una con para por se "
    "lo pero más ya y está hay como al del su nos si esto eso también"
)

CUES: Final = {
    # cut even without a comma behind
    "soft": r"(?:ok|vale|y|pero|pues|bueno|ah|oh|hm+|por cierto|btw|fyi|además|también|oye|sí|bien|y de paso|ya sabes)",
    "filler": r"(?:ok(?:ay)?|vale|bueno|bien|pues|a ver|hm+|eh+|ah+|oh|sí|si,|claro|perfecto|genial|estupendo|top|crack"
    r"|gracias|guay|venga|entonces|ahora|ahora en serio|y|pero|también|además|por cierto|de paso|y de paso|btw|fyi|una cosa"
    r"|otra cosa|una cosa más|ojo(?: con una cosa)?|oye|mira|hola|buenas|buenos días|nota|recuerda|acuérdate|ya sabes"
    r"|por favor|porfa|de acuerdo|exacto|eso es|correcto|entendido|en fin|total|la verdad|sinceramente|espera|para|alto|no"
    r"|nada|jaja|jeje|uf|ay|último|última cosa|lo último|dicho esto|como dije|te cuento|dos novedades|novedades|una|otra"
    r"|para que conste)",
    "question": r"(?:¿|qué|por qué|cómo|cuál(?:es)?|quién|dónde|cuándo|cuánto|puedes|podrías|podríamos|deberíamos|debería"
    r"|hay (?:alguna|algún|forma)|sabes|tienes|crees|te parece|se puede|se te ocurre|me (?:explicas|dices|pasas|enseñas)"
    r"|explícame|dime|muéstrame|enséñame|no sé si|no sé (?:cómo|qué|por qué)|pregunta|alguna idea|lo pregunto)\b|^¿",
    "ask": r"\b(?:puedes|podrías|qué opinas|qué te parece|sabes si|crees que)\b",
    "maybe": r"\b(?:quizás?|tal vez|a lo mejor|igual (?:podemos|podríamos|habría)|podríamos|podría|se podría|en teoría"
    r"|algún día|un día de estos|estaría bien|sería (?:bueno|mejor|genial|interesante)|habría que ver|estoy pensando"
    r"|pensando en|dudo|dudando|o bien|no estoy segur[oa]|ojalá|me planteo|no sé)\b",
    "open": r"\b(?:sin decidir|no (?:lo )?(?:he|hemos) decidido|lo pienso|déjame pensar|ya (?:lo )?(?:veremos|hablaremos"
    r"|miraré)|depende|queda abierto|lo consulto|te digo algo|solo curiosidad|por curiosidad|de momento no|por ahora no"
    r"|lo pregunto)\b",
    "withdrawn": r"\b(?:no digo que|no estoy diciendo|no quiero decir|es broma|era broma|bromeo|olvídalo|olvida eso|déjalo"
    r"|nada, nada|no significa que)\b",
    "elsewhere": r"\b(?:en mi (?:anterior|último|antiguo|antigua|última)|mi (?:anterior|antiguo|antigua|último) (?:trabajo"
    r"|empresa|equipo|curro)|antes (?:usábamos|hacíamos|teníamos|trabajaba)|hace años|cuando (?:estaba|trabajaba) en"
    r"|en aquella época|en otra empresa|en otro equipo usaban|en su (?:empresa|equipo|curro|trabajo|casa)|allí (?:usan"
    r"|usaban))\b",
    "others": r"^(?:ellos|la gente|otros equipos|algunos|muchos|los (?:demás|otros)|(?:él|ella) (?:siempre|nunca))\b"
    r"|\b(?:dice que|dicen que|dijo que|opina que|según|cree que|recomienda|recomiendan|propone|he leído|leí|he oído"
    r"|al parecer|por lo visto|me ha dicho)\b",
    "momentary": r"\b(?:ahora mismo|en este momento|desde (?:ayer|esta mañana|el (?:último )?(?:deploy|despliegue|merge))"
    r"|esta mañana|ayer|anoche|acabo de|otra vez|de nuevo|falla|fallan|fallando|revienta|peta|peta\w*|se cae|se cuelga|roto"
    r"|rota|no (?:funciona|va|compila|arranca|carga)|raro|rara|va a tirones|parece|da error|me sale|sale un error|se queja)\b",
    "ack": r"(?:gracias|muchas gracias|adiós|hasta (?:luego|mañana)|nos vemos|chao|buen trabajo|bien hecho|sigue|adelante"
    r"|dale|hazlo|perfecto|genial|vale|sí|ok|luego seguimos|seguimos|tira|venga|así)\b",
    "standing": r"\b(?:no está(?:n)? permitid\w+|no se permite|aquí (?:no|nunca) \w+|avísame antes|nada se \w+|pregúntame"
    r"|consúltame|no quiero (?:ver )?\w+|responde .{0,15}(?:en|más|sin)|contesta .{0,15}(?:en|más|sin)|(?<!de )siempre|nunca"
    r"|jamás|a partir de (?:ahora|hoy|ya)|de ahora en adelante|desde ahora|desde hoy|en adelante|en el futuro|cada vez que"
    r"|por defecto|por norma|como norma|en general|por regla general|sin excepci(?:ón|ones)|bajo ningún concepto"
    r"|en ningún caso|prohibido|nada de|no se (?:sube|suben|toca|tocan|edita|editan|cambia|cambian|mergea|despliega|hace"
    r"|hacen|usa|usan|puede|permite|commitea|borra|borran|mezcla|publica)|(?:tiene|tienen) que (?:seguir|quedar|ir|pasar"
    r"|estar|llevar)|no \w{2,12}(?:as|es) .{1,60}(?:nunca|jamás|sin|a mano|más|directamente)|no (?:me )?(?:vuelvas|vuelvan) a"
    r"|deja de|solo (?:se|en|con|por|desde|para|cuando|si)|sólo (?:se|en|con|por|desde|para|cuando|si)|únicamente"
    r"|antes de cada|después de cada|todo (?:lo nuevo|commit|pr|cambio|endpoint)|todos los|todas las"
    r"|cada \w+(?: \w+)? (?:lleva|necesita|debe|tiene|va)|pregunta(?:me)? antes|sin preguntar|sin mi (?:permiso|ok)"
    r"|debe(?:n)? (?:ir|estar|llevar|pasar|ser|quedar|tener|usar|seguir)|obligatori[oa]|intocables?|recuerda que|acuérdate de"
    r"|ya sabes|como (?:siempre|antes))\b",
    "ban": r"^(?:y |también |por favor )?(?:nada de|ningún|ninguna|cero"
    r"|sin) [\w`.*@/+áéíóúñ-]+(?: [\w`.*@/()+áéíóúñ-]+)? (?:en|fuera|sin|para|con|de|desde|a)\b"
    r"|^no quiero (?:ver )?[\w`.*áéíóúñ-]+ (?:en|fuera|sin|con|de)\b",
    "style": r"\b(?:respuestas?|respond\w*|contest\w*|resúmen(?:es)?|resumen(?:es)?|explicaci(?:ón|ones)|mensajes?|tono"
    r"|emojis?|español|inglés|castellano|breve|corto|conciso|idioma|tutea\w*|usted)\b",
    "polite": r"\b(?:por favor|porfa)\b",
    "prefer": r"\b(?:(?:yo )?prefiero|me gusta(?:n)?(?: más)?|no me gusta(?:n)?|me encanta(?:n)?|odio|detesto|no soporto"
    r"|no aguanto|me molesta(?:n)?|me pone de los nervios|soy (?:más )?(?:de|partidari[oa]|fan|muy)|no soy (?:fan|muy|de"
    r"|partidari[oa])|me resulta (?:más )?|a mí me|personalmente|mi preferencia|preferiría|me apaño mejor|me va mejor"
    r"|mejor .{1,50} que|lo mío es|manías?)\b",
    "wants": r"\bquiero que\b|\bquisiera\b|\bme gustaría\b",
    "decide": r"\b(?:^fuera (?!de)\w+|vamos (?:con|a (?!ver|mirar|empezar|seguir|probar|revisar|hablar|comer|parar|dejarlo"
    r"|ello|por|tope)\w+r)|opción [a-e\d]|los vamos a|las vamos a|lo vamos a|la vamos a|nos quedamos con|nos quedamos en"
    r"|tiramos (?:con|de|por)|tira con|usamos|usaremos|usemos|cambiamos (?:a|de|el|la)|pasamos (?:a|de|todo)|pasemos|migramos"
    r"|quitamos|quitemos|ponemos|dejamos (?:de|el|la|los)|sustituimos|reemplazamos|cambiemos|(?:hemos|he) (?:decidido|elegido"
    r"|optado|cambiado|pasado|quedado|acordado|migrado|dejado)|decidido|decisión|nuevo plan|volvemos a|volver a|votado"
    r"|optamos|elegimos|apostamos|me quedo con|mejor (?:con|usamos|vamos|lo|la)|en (?:vez|lugar) de|al final|ya no|no vamos a"
    r"|se queda(?:n)?|(?<!no )quiero (?!que|ver|saber|un momento)|fuera (?:el|la|los)|sube a (?:v?\d)|pasa a (?:ser|v?\d)|sea"
    r"|entonces con|pues con|adoptamos|abandonamos|nos vamos a|nos pasamos a|nos mudamos|nos olvidamos de|me retracto"
    r"|he cambiado de idea|cambio de planes|pensándolo (?:mejor|bien)|nos basta con|nos vale con|es suficiente"
    r"|con .{1,30} nos (?:basta|vale|sobra))\b",
    "it_is": r"^(?:que )?sea [^,]{2,40}$|^[^,]{2,40} y punto$",
    "then": r"^(?:pues |entonces |vale |venga |ok )?[^,]{2,50} (?:entonces|mejor|pues|y punto|y ya está)$|^(?:pues|entonces"
    r"|venga|mejor)[, ](?:con |el |la |a )[^,]{2,50}$|^sin [\w-]+$|^(?:con|a) [\w.-]+$",
    "wrong": r"^(?:no(?=[,.!]|$)|no (?:está|hay|son|el|la|eso)|pues no|que no|mal|incorrecto|error(?=[,:])|eso no"
    r"|no es (?:así|eso|el|la|ese|esa|cierto)|eso (?:está mal|es incorrecto|no es|es viejo|ya no)|espera|para(?=[,.])|alto"
    r"|te (?:has equivocado|equivocas|confundes)|has (?:puesto|usado|asumido|cogido|confundido)|ahí no|ese no|esa no"
    r"|no (?:usamos|tenemos|hay|trabajamos)|corrección|quería decir|casi)\b",
    "wrong_in": r", no (?:el |la |los |las |en |un |una |de )?[\w`'\"]|\b(?:no es .{1,30}, (?:es|sino)|sino|en realidad (?:es"
    r"|son|está)|debería ser|tendría que ser)\b",
    "task": r"\b(?:(?:^|(?<=, ))tengo que (?!decir|irme|ver|saber|admitir)|(?:mañana|el lunes|el martes|el miércoles"
    r"|el jueves|el viernes) .{0,20}(?:tengo|tenemos|hay|toca) |recuérdame|que no se (?:me |nos )?olvide|no (?:te "
    r"|nos )?olvid\w+|acuérdate de|queda(?:n)? (?:pendiente|por|todavía)|pendientes?|falta(?:n)? (?!de )|(?:aún"
    r"|todavía) (?:falta|hay que|tenemos que|tengo que|queda|no (?:hemos|está))|(?:tenemos|hay|tengo|tiene|tienes"
    r"|habrá) que .{1,80}(?:antes|después|cuando|mañana|la semana|el lunes|el martes|el miércoles|el jueves|el viernes|luego"
    r"|pronto|en cuanto|tras)|para (?:mañana|la semana que viene|el lunes|el viernes|la próxima)|antes (?:de"
    r"|del) .{1,50} (?:hay que|tenemos que|tengo que)|la semana que viene .{0,40}hay que|a la lista|al backlog|por hacer"
    r"|le debo|debo |ya (?:lo|la) (?:haré|hago|miro|miraré)|la semana que viene|el mes que viene|próximo sprint|mañana (?:te"
    r"|lo|la|hago|miro|paso))\b",
    "later": r"\b(?:mañana|la semana que viene|el mes que viene|luego|más tarde|después de|antes de|cuando (?:acabe|termine"
    r"|vuelva|esté)|todavía no|aún no|hoy no|próxim[oa]|en cuanto)\b",
    "done": r"\b(?:ya está(?: hecho)?|está hecho|ya lo hice|terminado|se puede (?:quitar|tachar) de la lista"
    r"|fuera de la lista)\b",
    "procedure": r"(?:\b(?:va|funciona|se hace|es) así\b|\bel (?:proceso|flujo|procedimiento|orden) (?:es|va)\b"
    r"|\bpasos\b[^:]{0,30}:|\b(?:te cuento |así es )?cómo (?:sacamos|desplegamos|hacemos|publicamos|lanzamos|montamos"
    r"|se \w+)[^:]{0,40}:|^para [\w]+[^:,]{2,60}[:,] |^(?:cuando|si|antes de|después de|al) [^:]{3,60}: |\b(?:release"
    r"|despliegue|deploy|backup|copia|versión|restaurar)[\w áéíóú]{0,20} ?(?:=|es:|son:)|^se (?:sube|lanza|ejecuta|hace"
    r"|corre)\b)",
    "step": r"(?:\bluego\b|\bdespués\b|\bprimero\b|\bentonces\b|\by cuando\b|\bpor último\b|\bal final\b|->|→|\bse lanza\b"
    r"|\bse (?:sube|ejecuta|hace|copia|etiqueta|borra|reinicia)\b|\bcuando\b)",
    "by_command": r"(?:\b(?:con|mediante|usando|ejecutando|lanza|ejecuta|corre)\b[^`]{0,25}`[^`]{3,80}`|`[^`]{3,80}` (?:lo|la"
    r"|los|regenera|arranca|construye|despliega|arregla))",
    "order": r"(?:por favor |ahora |y |también |luego |pues |primero |a ver |venga )*(?:haz|mira|pon|añade|quita|borra|cambia"
    r"|crea|escribe|ejecuta|lanza|corre|prueba|arregla|revisa|comprueba|busca|lee|abre|cierra|sube|baja|mueve|renombra|usa"
    r"|deja|sigue|explica|muestra|dame|dime|enseña|genera|instala|actualiza|commitea|mergea|despliega|reinicia|para|espera|ve"
    r"|vuelve|saca|mete|pasa|compara|resume|documenta|apunta|anota|copia|elimina|corrige|métele|hazlo|ponlo|ponle|déjalo"
    r"|quítalo|súbelo|pruébalo|míralo|échale|échalo|no toques|no hagas|no cambies|no subas|no borres|separa|divide|monta"
    r"|prepara|limpia|activa|desactiva|investiga|averigua|implementa)\b",
    "fact": r"\bse \w+[ae]n?\b|\b\w{2,12}(?:amos|emos|imos)\b|\b(?:es|son|está|están|tiene que|no se puede[n]?|vive|viven"
    r"|corre|corren|usa|usan|usamos|tiene|tienen|tenemos|lleva|llevan|pertenece|depende|escucha|lee|escribe|apunta|llama"
    r"|llaman|se llama|sale|salen|va (?:a|por|en|con)|van (?:a|por|en)|viene|vienen|necesita|requiere|acepta|rechaza|espera"
    r"|soporta|gestiona|aprueba|revisa|mantiene|guarda|contiene|caduca|cuesta|hay|da|manda|envía|se encarga|responsable"
    r"|se ha (?:ido|mudado|movido)|termina|empieza|trabaja|cobra|factura|vale|reparte)\b",
    "info": r"^(?:fyi|por cierto|para que (?:lo )?sepas|que sepas|nota|dato|contexto|aviso|te cuento|ojo|btw|novedad(?:es)?"
    r"|dos novedades)\b",
    "weak_subject": r"^(?:yo|eso|esto|ello|tú|él|ella|todo|nada|algo|lo|así)\b",
    "felt": r"\b(?:bonito|feo|fea|genial|horrible|gracioso|pesado|guay|lástima|pena|contento|cansad[oa]|curios[oa]|espero"
    r"|creo|supongo|imagino|da igual|me temo|un lío|un desastre|me matan)\b",
    "past": r"\b(?:era|eran|fue|fueron|estaba|estaban|tuvimos|tuve|hizo|hicimos|hice|dijo|vino|pasó|salió|fui|había|probamos"
    r"|probé|intenté|nos salía)\b",
    "why": r"\b(?:porque|ya que|puesto que|por eso|que (?:al menos|si no)|si no|para que|debido a|pues (?:el|la|así))\b",
    "instead": r"\b(?:en (?:vez|lugar) de|antes que|no|quitamos|dejamos|sin|fuera|nada de|ya no (?:usamos|usa)?|sustituimos"
    r"|cambiamos)\s+(?:el |la |los |las |un |una )?([\w`@/.+áéíóúñÁÉÍÓÚÑ-]+)",
    "pronoun": r"^(?:eso|esto|ese|esa|este|esta|él|ella|lo)\s+(?:es|está|va|tiene|se|son|no)\b",
    "reminds": r"\b(?:recuerda|acuérdate|ya sabes|para el futuro|regla|norma|ojo)\b",
    "changed": r"\b(?:ahora|ya no|a día de hoy|desde (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre"
    r"|noviembre|diciembre|la semana pasada|20\d\d))\b",
    "role": r"\b(?:^(?:los|las|el|la) .{1,40} (?:no )?(?:se )?(?:pueden|puede|deben|debe|tienen que|tiene que) |cada (?:noche"
    r"|día|lunes|martes|miércoles|jueves|viernes|semana|mes|hora)|todas las noches|todos los días|diariamente"
    r"|es (?:nuestr[oa]|el|la|quien) (?:\w+ )?(?:responsable|jef[ea]|encargad[oa]|contacto|cliente|admin\w*|diseñador\w*)"
    r"|se encarga|lleva (?:el|la|los|las) |responsable de|vive en|viven en|está en (?:el|la)|se llama|corre en|pertenece"
    r"|el visto bueno lo da)\b",
    "if": r"\b(?:hipotéticamente|y si|si (?:\w+áramos|\w+iéramos|\w+éramos|algún día)|supongamos|imagina)\b",
    "accuses": r"\b(?:has (?:puesto|usado|cogido|asumido|confundido|metido)|está mal|es incorrect[oa]|ese no|esa no"
    r"|te has equivocado|me he fijado|he visto que (?:has|pones))\b",
    "manner": r"\b(?:en|con|sin|a|al|por|como|solo|según)\b",
    "heading": r"\b(?:a recordar|importante|reglas?|normas?|convenci(?:ón|ones)|criterios?|estilo)\b",
    "introduces": r"^soy [a-záéíóú]+|\baquí [a-záéíóú]+(?:,|$)|\b(?:me encargo|llevo yo|he cogido|me toca) \b"
    r"|^[a-záéíóú]+ por aquí\b",
    "each": r"\b(?:para|con|en|por|a) cada (?!día|semana|mes|año|lunes|noche)\w+",
    "picks": r"^(?:opción )?\(?[a-e1-5]\)(?=[\s,.:]|$)|^(?:la |el )?(?:primer[ao]?|segund[ao]|tercer[ao]?"
    r"|últim[ao])(?: opción)?(?=[,.:]|$)",
    "finite": r"\b(?:es|son|está|están|tiene|va|debe|queda|usa|corre|vive|necesita|sale|puede)\b",
    "complement": r"\b(?:que|si|por qué|cómo|cuál|quién|donde|cuando|hasta|porque|lo)\b",
    "rest": r"\b(?:solo|sólo|el resto|todo lo demás|los demás|si no)\b",
    "concludes": r"(?:^|[\s,.:])(?:pues|entonces|vale|venga|bueno|ok|así que)\b",
    "compound": r"^(?:para|prueba) (?:el|la|los|las|de)\b",
    "puts": r"^(?:usamos|estamos|tenemos|usa|es|con|en|el|la|pon|son)\b",
    "reverses": r"\b(?:me retracto|he cambiado de (?:idea|opinión)|cambio de planes|pensándolo (?:mejor|bien)|me equivoqué"
    r"|retiro lo dicho)\b",
    "omits": r"\b(?:se te ha (?:olvidado|pasado)|te has (?:olvidado|dejado|saltado)|has roto)\b",
    "everywhere": r"\b(?:en todas partes|en todos lados|en todo el proyecto)\b",
    "without": r"^(?:para [\w.]+ )?(?:nada de|sin|ningún|ninguna) (?!problema|prisa|duda|idea|cambios)\w+",
    "owed": r"\b(?:hay que|tienen? que|tenemos que|deben?|faltan?|quedan?|necesitan?|quieren?|pendientes?|toca|caducan?)\b",
    "due": r"\b(?:mañana|(?:la|el) (?:semana|mes|año|trimestre|sprint) que viene|próxim[oa] \w+|pronto|más adelante|luego"
    r"|(?:para|antes"
    r" de|en|hasta|a (?:finales|principios) de) (?:el |la )?(?:\d+|lunes|martes|miércoles|jueves|viernes|enero|febrero|marzo"
    r"|abril"
    r"|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|verano|otoño|invierno|primavera|navidad))\b",
    "solely": r"^(?:solo|sólo) [\w` áéíóúñ-]{3,40}$",
}  # fmt: skip
