"""The dossier: one run of the gate as a document that a named person can sign.

    clauses.py     the clauses of standards, each with what answers it
    content.py     the document, built from the gate's report and the policy
    sections.py    its HTML, in the gate's page
    envelope.py    the folder: an RO-Crate, its verification and its signature

No figure is measured or formatted here: all are those of the gate's report, which a mask has seen.
"""
