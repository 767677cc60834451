/**
 * Where problems go that nobody waits for an answer about: a stored row that cannot be read, a listener that fails. Never
 * throws. `fields` hold ids and names of things, never content; the cause is `err`.
 */
export type ReportProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;
