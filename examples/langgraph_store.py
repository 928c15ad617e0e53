"""A LangGraph graph with a long-term store that lasts. Needs `hindbrain[langgraph]` and `langgraph`."""

import sys
import tempfile
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from hindbrain import Memory
from hindbrain.adapters.langgraph import HindbrainStore


class State(TypedDict):
    prompt: str
    reply: str


def answer(state: State, *, store: BaseStore) -> dict[str, str]:
    found = store.search(("users", "ada"), query=state["prompt"], limit=1)
    store.put(("users", "ada"), state["prompt"], {"said": state["prompt"]})
    return {"reply": found[0].value["said"] if found else "I do not know."}


def main(home: str) -> None:
    for prompt in ("Staging listens on 5433", "Which port has staging?"):
        with Memory.open(home=home) as memory:
            builder = StateGraph(State)
            builder.add_node("answer", answer)
            builder.add_edge(START, "answer")
            builder.add_edge("answer", END)
            graph = builder.compile(store=HindbrainStore(memory, project="shop"))
            print(graph.invoke({"prompt": prompt, "reply": ""})["reply"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
