import { ImportReports } from '../exports/import-reports.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { GroupMembershipNotices, SystemMessages } from '../writing/system-messages.js';
import type { Ports } from './ports.js';

/** Domain services that lower folders know only by their own interface and therefore inject by name. */
export const NAMED_SERVICES = {
  groupMembershipNotices: GroupMembershipNotices,
  importReports: ImportReports,
  systemMessages: SystemMessages,
  textRenderer: MarkdownTextRenderer,
} as const;

type NamedServices = {
  readonly [Name in keyof typeof NAMED_SERVICES]: InstanceType<(typeof NAMED_SERVICES)[Name]>;
};

/** Class with one entry of `inject` per constructor parameter: the name of a port, or another such class. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` accepts every constructor, whatever its dependencies.
export type Injectable<T = unknown> = { readonly inject: readonly unknown[] } & (new (...dependencies: any[]) => T);

/** Limits how deep the compiler follows classes that inject classes; the longest chain has three. */
type Depth = readonly unknown[];
type MaxDepth = 5;

/** Instance for an entry of `inject`; `unknown`, which no parameter accepts, if the entry is wrong. */
type Resolved<Entry, P, D extends Depth> = Entry extends keyof P
  ? P[Entry]
  : Entry extends Injectable<infer T>
    ? IsWired<Entry, P, readonly [...D, Entry]> extends true
      ? T
      : unknown
    : unknown;

type ResolvedAll<Inject extends readonly unknown[], P, D extends Depth> = {
  -readonly [K in keyof Inject]: Resolved<Inject[K], P, D>;
};

type IsWired<C extends Injectable, P, D extends Depth = readonly []> = D['length'] extends MaxDepth
  ? true
  : ResolvedAll<C['inject'], P, D> extends ConstructorParameters<C>
    ? true
    : false;

/**
 * The class itself if its constructor accepts the entries of `inject` in order; otherwise a type to which the class is
 * not assignable. `More` are the ports of an outer layer.
 */
export type Wired<C extends Injectable, More = unknown> =
  IsWired<C, Ports & NamedServices & More> extends true ? C : { readonly inject: ConstructorParameters<C> };

/** Returns the single instance of a use case or another class with `inject`. */
export type Resolve<More = unknown> = <C extends Injectable>(type: C & Wired<C, More>) => InstanceType<C>;
