import type { DetailsOf, DomainError, ErrorCode } from '@parley/domain/kernel';
import type { ClientVariant } from './client-variant.js';
import type { WireFields } from './reply.js';

/** How the API puts a refusal with such details; with nothing given, 400 `BAD_REQUEST` with the refusal's own text. */
export interface WireError<D = object> {
  readonly status?: number;
  readonly code?: string;
  /** Details that reach the wire, and as what. Others do not: strict clients refuse errors with fields they do not know. */
  readonly fields?: { readonly [K in KeysOf<D>]?: string };
  /** Of these the form that they have there, by the detail's name; others go as they are. */
  readonly present?: { readonly [K in KeysOf<D>]?: (value: Exclude<D[K], undefined>) => unknown };
  /** Fields that are always there. */
  readonly extra?: WireFields;
  /** Where the refusal's own text would name something otherwise than clients know it. */
  readonly text?: string | ((details: D, variant: ClientVariant | undefined) => string | undefined);
  readonly headers?: readonly string[];
}

type KeysOf<D> = keyof D & string;

/** For refusals whose form depends on what is refused. */
export type WireErrorRule<C extends ErrorCode> = WireError<DetailsOf<C>> | ((error: DomainError<C>) => WireError);

/** A feature's part of the table, of those of its codes that are no plain 400. */
export type WireErrors = { readonly [C in ErrorCode]?: WireErrorRule<C> };

/** A parameter of the right type with a value that it cannot have. */
export const badValue =
  (parameter: string) =>
  (value: unknown): WireError => ({
    code: 'REQUEST_VARIABLE_INVALID',
    extra: { var_name: parameter, bad_value: value },
    text: `Bad value for '${parameter}': ${value}`,
  });
