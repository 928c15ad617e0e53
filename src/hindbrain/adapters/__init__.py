"""What agent frameworks call a store, a session, a history or a memory -> turns of Hindbrain, each as an extra of its own."""
