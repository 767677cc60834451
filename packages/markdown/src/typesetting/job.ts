/** What only a library can make HTML of. */
export type TypesettingJob = CodeJob | FormulaJob;

/** Code in a language that there is a grammar for. */
export interface CodeJob {
  readonly kind: 'code';
  readonly source: string;
  readonly grammar: string;
}

export interface FormulaJob {
  readonly kind: 'formula';
  readonly source: string;
  readonly displayMode: boolean;
}

/** HTML; null for a formula that is none, and for whatever was not done in time. */
export type TypesettingResult = string | null;

/** Does the jobs of one text; the results are in their order. Never fails. */
export interface Typesetter {
  typeset(jobs: readonly TypesettingJob[]): Promise<readonly TypesettingResult[]>;
  close(): Promise<void>;
}
