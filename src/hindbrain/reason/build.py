"""A clause of one statement, beside another statement -> its build: what it does to what, without the words themselves.

A phrase that the other statement speaks of too is THING, or MATTER where it is no name; any other phrase is OTHER; one that
begins with a shared name and goes on ("Grafana dashboards") is PART. Verbs and prepositions are told by what they do, and what
does nothing is left out: "we no longer use the PostgreSQL server for sessions" is "we NOT USE THING FOR OTHER".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.families import tools
from hindbrain.reason.reversal import LIGHT
from hindbrain.reason.sides import Sides
from hindbrain.reason.values import NAME, ORDINARY, stem
from hindbrain.reason.vocabulary import SILENT, WEEKDAYS

ALIKE: Final = 0.4  # how alike a phrase is to what the other one tells of, so that both may mean one thing


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ROLES: Final = {
    "MOVE": _words("""
        moved moves migrated migrates switched switches went changed converted ported rewritten rewrote taken moving
        switching migrating
        umgeschrieben umgestiegen gewechselt umgezogen migriert umgestellt wechselt wechselte
        paso pasa pasaron pasado migro migraron migrado cambio cambiaron pasamos migramos cambiamos movimos mudo"""),
    "OUT": _words("""
        removed remove removing deleted delete deleting dropped drop dropping ripped threw killed retired disabled scrapped
        ditched axed decommissioned uninstalled gone abandoned purged cancelled canceled discontinued left
        fliegt fliegen entfernt geloescht rausgeworfen rausgeschmissen abgeschaltet gestrichen abgeschafft entfernen loeschen raus
        weg deaktiviert
        quitamos quitado eliminamos eliminado borramos borrado sacamos sacado retiramos retirado desactivamos descartamos"""),
    "SWAP": _words("""
        replaced replace replacing swapped swap swapping
        ersetzt ersetzen getauscht sustituimos sustituido reemplazamos reemplazado"""),
    "SET": _words("""
        raised raise lowered lower increased increase reduced reduce doubled halved bumped bump set
        erhoeht gesenkt angehoben verdoppelt halbiert hochgesetzt gesetzt
        subimos bajamos aumentamos redujimos ponemos"""),
    "USE": _words("""
        use uses used using run runs ran running store stores stored storing host hosts hosted hosting build builds built building
        deploy deploys deployed deploying hash hashes hashed hashing write writes written writing keep keeps kept keeping
        need needs rely depend serve serves served serving live lives sit configure configured manage managed
        nutzen nutzt nutze verwenden verwendet benutzen benutzt laufen laeuft liegen liegt speichern speichert gespeichert
        geschrieben gebaut bauen nehmen brauchen setzen machen deployen stehen steht
        usamos usa usan usar uso corre corren correr guardamos guarda guardan guardar escrito escrita construye construyen
        utilizamos utiliza utilizar viven vive despliega desplegamos"""),
    "AT": _words("""
        in on as at inside within im als bei beim auf ans am en como"""),
    "FOR": _words("for fuer para"),
    "FROM": _words("from off aus"),
    "OF": _words("of von vom de del"),
    "TO": _words("to with by onto into zu zum zur durch nach al por con"),
}  # fmt: skip
_ROLE_OF: Final = {word: role for role, words in _ROLES.items() for word in words}
_NOT: Final = re.compile(
    r"(?<![\w-])(?:no longer|(?:stop|stopped|quit)(?= \w+ing\b)|(?:do|does|did|is|are|was|were)(?:n't| not)"
    r"|nicht (?:mehr|laenger)|kein\w*|ya no"
    r"|(?:dejamos|dejaron|dejo|dejado) de)\b"
)
_SILENT: Final = re.compile(r"\b(?:any ?more|any longer|mehr)\b")
_RID: Final = re.compile(r"\b(?:g[eo]t(?:ting)? rid of|losgeworden|nos deshicimos de)\b")
_ARTICLES: Final = _words("""
    the a an our my your its their this that these those all also just finally now already completely
    der die das den dem des ein eine einen einem einer unser unsere unseren unserem unserer alle allen jetzt schon
    el la los las lo un una unos unas nuestro nuestra nuestros nuestras su sus todos todas ahora""")
# In German the verb stands before who does it: "Mails verschicken wir nicht mehr".
_WHO: Final = _words("wir ich man sie er es ihr du")
_HAVE: Final = _words("has have hat haben habe tiene tienen")
_VERBS: Final = _words("gets get got goes go comes becomes uses upgraded updated happen happens")
# "The PostgreSQL server" is PostgreSQL: what stands beside a name and says no more than it; what everything is called;
# why, and on which occasion.
_WHOLE: Final = frozenset(map(stem, _words("""
    server servers cluster clusters instance instances database databases service services setup installation stack system systems
    library libraries package packages framework dependency dependencies tool tools tooling license subscription account contract
    plan rule rules policy thing business idea approach solution support integration backend data store storage engine app
    application company product site everything code codebase project production
    datenbank dienst werkzeug bibliothek lizenz vertrag abo regel anwendung firma produkt alles
    servidor servicio instancia base datos herramienta biblioteca paquete licencia contrato regla aplicacion empresa producto todo
    reason reasons cost costs simplicity performance security grund gruende kosten coste costes motivo motivos favour favor
    speed stability consistency maintainability compliance privacy licensing budget money
    heavy slow expensive complex complicated noisy pipeline toolchain workflow
    version release sprint cleanup refactoring refactor rewrite meeting review outage incident
    aufraeumen umbau treffen ausfall reunion limpieza""")))
# Why or when it is so, to the end of the clause.
_REST: Final = re.compile(
    r"\b(?:because|since|due to|after|until|when|once|thanks to|weil|wegen|nachdem|porque|debido a|tras)\b.*"
)
# "OTHER of OTHER" is one phrase, and so is what a clause begins with.
_JOINED: Final = re.compile(r"OTHER(?: OF OTHER)+|^OTHER (?:TO|AT|FOR|FROM) OTHER")
_COUNTED: Final = re.compile(r"THING [\d.]+ OTHER")
_TARGET: Final = re.compile(r"\b(OUT|SWAP)( THING| MATTER) FOR NAMED")
_DAYS: Final = frozenset(map(stem, WEEKDAYS))


def builds(pair: Sides) -> Iterator[str]:
    """The build of every clause of the newer one."""
    for start, end in pairwise(pair.new.cuts):
        yield _build(pair, _REST.sub("", pair.new.text[start:end]))


def _build(pair: Sides, text: str) -> str:
    said = _SILENT.sub(" ", _RID.sub(" removed ", _NOT.sub(" NOT ", text))).split()
    found: list[str] = []
    phrase: list[str] = []
    for word in [*(each.strip(".,;:!?()\"'") for each in said), ""]:
        role = _role(word, bool(phrase))
        if role == "word":
            phrase.append(word)
            continue
        if phrase:
            if word in _WHO and len(phrase) > 1:
                phrase.pop()  # a verb
            found.extend(_named(pair, phrase))
            phrase = []
        if role:
            found.append(role)
    build = _TARGET.sub(r"\1\2 TO NAMED", " ".join(found))
    return _JOINED.sub("OTHER", _COUNTED.sub("PART", build.replace("NAMED", "OTHER")))


def _role(word: str, after_name: bool) -> str:
    """What a word does in its clause; "word" for one that names something, "" for one that does nothing."""
    if word in ("NOT", ""):
        return word
    if word == "a" and after_name:
        return "TO"  # in Spanish; an English one has no name before it
    if word in _ARTICLES:
        return ""
    if word in _ROLE_OF:
        return _ROLE_OF[word]
    if wording.IS.fullmatch(word) and word not in _HAVE:
        return "IS"
    if word in SILENT or word in _VERBS or word.isdigit():
        return word
    return "word"


def _named(pair: Sides, phrase: list[str]) -> list[str]:
    """A run of words as THING, MATTER, PART, OTHER, or NAMED for a name; words that tell nothing as they are."""
    keys = [key for word in phrase for key in _keys(pair, word)]
    shared = [_is_shared(pair, key) for key in keys]
    if not any(shared):
        own = _own(pair, keys)
        if not own or _alike(pair, phrase):
            return phrase
        return ["NAMED" if max(pair.new.keys[key] for key in own) >= NAME else "OTHER"]
    last = len(shared) - shared[::-1].index(True)
    if _own(pair, keys[last:]) and (sum(shared) == 1 or not _all_said(pair)):
        return ["PART"]
    named = any(pair.shared[key] >= NAME for key, there in zip(keys, shared, strict=True) if there) or tools(" ".join(phrase))
    return ["THING" if named else "MATTER"]


def _own(pair: Sides, keys: list[str]) -> list[str]:
    """Those that tell of something that is not the whole."""
    return [key for key in keys if pair.new.keys.get(key, 0.0) >= ORDINARY and key not in _WHOLE and key not in LIGHT]


def _all_said(pair: Sides) -> bool:
    """Whether the newer one says every telling word of the older."""
    return all(key in pair.shared for key, weight in pair.old.keys.items() if weight >= ORDINARY)


def _keys(pair: Sides, word: str) -> list[str]:
    """Of a compound the keys of both parts, unless both statements say it as a whole."""
    word = word.split("'")[0]
    if word.count("-") != 1 or word in pair.shared:
        return [stem(word)]
    return [stem(part) for part in word.split("-")]


def _is_shared(pair: Sides, key: str) -> bool:
    return pair.shared.get(key, 0.0) >= ORDINARY and key not in _DAYS


def _alike(pair: Sides, phrase: list[str]) -> bool:
    """Whether a phrase may mean in other words what the older one tells of. Two paths sound alike and are two places."""
    if any("/" in word for word in phrase):
        return False
    rest = " ".join(word.shown for word in pair.old.words if word.weight >= ORDINARY and word.key not in pair.shared)
    return bool(rest) and pair.likeness(" ".join(phrase), rest) >= ALIKE
