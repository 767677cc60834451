/** Statements whose text depends on what is asked for. Bounded: those that were not used for long are prepared anew. */
export class StatementCache<Statement> {
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly prepare: (text: string) => Statement) {}

  get(text: string): Statement {
    const known = this.statements.get(text);
    if (known) {
      // The order of a map is that of insertion.
      this.statements.delete(text);
      this.statements.set(text, known);
      return known;
    }
    const statement = this.prepare(text);
    this.statements.set(text, statement);
    if (this.statements.size > MAX_STATEMENTS) this.statements.delete(this.statements.keys().next().value!);
    return statement;
  }
}

/** A few dozen are in use; narrows that nobody thought of make more. */
const MAX_STATEMENTS = 200;
