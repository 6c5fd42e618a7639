//! Rules about keys and roles, each as a sentence.
