import { MarkdownTextRenderer } from '../messages/render-message.js';
import { GroupMembershipNotices, SystemMessages } from '../messages/system-messages.js';
import type { Ports } from './ports.js';

/** Domain services that folders below theirs know by an interface of their own, and therefore inject by name. */
export const NAMED_SERVICES = {
  groupMembershipNotices: GroupMembershipNotices,
  systemMessages: SystemMessages,
  textRenderer: MarkdownTextRenderer,
} as const;

type NamedServices = {
  readonly [Name in keyof typeof NAMED_SERVICES]: InstanceType<(typeof NAMED_SERVICES)[Name]>;
};

/** A class with one entry of `inject` for each parameter of its constructor: the name of a port, or another such class. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` accepts every constructor, whatever its dependencies.
export type Injectable<T = unknown> = { readonly inject: readonly unknown[] } & (new (...dependencies: any[]) => T);

/** Bounds how deep the compiler follows classes that inject classes; the deepest chain has three. */
type Depth = readonly unknown[];
type MaxDepth = 5;

/** The instance that an entry of `inject` stands for; `unknown`, which no parameter accepts, if the entry is wrong. */
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
 * The class itself if its constructor accepts what its `inject` names, in that order; else a type that it is not
 * assignable to. `More` are the ports of an outer layer.
 */
export type Wired<C extends Injectable, More = unknown> =
  IsWired<C, Ports & NamedServices & More> extends true ? C : { readonly inject: ConstructorParameters<C> };

/** Returns the one instance of a use case or of another class with `inject`. */
export type Resolve<More = unknown> = <C extends Injectable>(type: C & Wired<C, More>) => InstanceType<C>;
