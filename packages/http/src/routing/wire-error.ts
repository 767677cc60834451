import type { DomainError, ErrorCode, ErrorDetails } from '@parley/domain';
import type { ClientVariant } from './client-variant.js';
import type { WireFields } from './reply.js';

/** How the API tells of a refusal; with nothing said, 400 `BAD_REQUEST` with the refusal's own text. */
export interface WireError {
  readonly status?: number;
  readonly code?: string;
  /** Details that reach the wire, and as what. Others do not: strict clients refuse errors with fields they do not know. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Of these the form that they have there, by the detail's name; others go as they are. */
  readonly present?: Readonly<Record<string, (value: never) => unknown>>;
  /** Fields that are always there. */
  readonly extra?: WireFields;
  /** Where the refusal's own text would name something otherwise than clients know it. */
  readonly text?: string | ((details: ErrorDetails, variant: ClientVariant | undefined) => string | undefined);
  readonly headers?: readonly string[];
}

/** For refusals whose form depends on what is refused. */
export type WireErrorRule = WireError | ((error: DomainError) => WireError);

/** A feature's part of the table, of those of its codes that are no plain 400. */
export type WireErrors = Readonly<Partial<Record<ErrorCode, WireErrorRule>>>;

/** A parameter of the right type with a value that it cannot have. */
export const badValue =
  (parameter: string) =>
  (value: unknown): WireError => ({
    code: 'REQUEST_VARIABLE_INVALID',
    extra: { var_name: parameter, bad_value: value },
    text: `Bad value for '${parameter}': ${value}`,
  });
