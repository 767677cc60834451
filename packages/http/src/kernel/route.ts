import {
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
  type Role,
} from '@parley/domain/access';
import { canChangeDefaultChannels } from '@parley/domain/channels';
import type { Injectable, Resolve, Wired } from '@parley/domain/composition';
import { type Caller, type Decision, enforce, type RealmId, type UserId } from '@parley/domain/kernel';
import { mustSynchronizeDrafts } from '@parley/domain/messages';
import type { Identity } from './authenticate.js';
import type { Dto } from './params.js';
import type { LimitRule } from './rate-limit.js';
import type { Reply, WireFields, WireText } from './reply.js';
import type { ClientVariant, Request } from './request.js';
import type { WireSchema } from './wire-schema.js';

/** Caller data used by role requirements. */
export interface CallerRole {
  readonly role: Role;
  readonly isBot: boolean;
  readonly synchronizesDrafts: boolean;
}

/** Looks up the caller for the few operations that check roles before parameters. */
export interface RoleLookup {
  roleOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<CallerRole>;
}

/**
 * Role requirement checked before parameters: `administrator` includes owners, `member` excludes guests, `human`
 * excludes bots, `bot` admits only bots. `synchronizesDrafts` requires drafts stored on the server.
 * `changesDefaultChannels` requires an administrator and has its own error text. Roles that matter only for some
 * parameters are rules of the use case.
 */
export type RoleRequirement =
  | 'owner'
  | 'administrator'
  | 'member'
  | 'human'
  | 'bot'
  | 'synchronizesDrafts'
  | 'changesDefaultChannels';

/** Bot kind never changes, so authentication may already provide it. */
const BY_KIND = { human: mustBeHuman, bot: mustBeBot };

const RULES: { readonly [G in RoleRequirement]: (callerRole: CallerRole) => Decision } = {
  ...BY_KIND,
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
  changesDefaultChannels: canChangeDefaultChannels,
  synchronizesDrafts: ({ synchronizesDrafts }) =>
    mustSynchronizeDrafts({ settings: { enableDraftsSynchronization: synchronizesDrafts } }),
};

/** Skips lookups if authentication provides the data. @throws DomainError of the first unmet requirement */
export async function enforceRoles(
  roleRequirements: readonly RoleRequirement[],
  identity: Identity,
  lookup: RoleLookup,
): Promise<void> {
  const { botKind } = identity;
  let callerRole: CallerRole | undefined;
  for (const requirement of roleRequirements) {
    if (botKind !== undefined && (requirement === 'human' || requirement === 'bot')) {
      enforce(BY_KIND[requirement]({ isBot: botKind !== null }));
    } else {
      callerRole ??= await lookup.roleOf(identity);
      enforce(RULES[requirement](callerRole));
    }
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Basic access: authenticated users or anyone. Role requirements and permission rules refine it. */
export type Auth = 'user' | 'anyone';

/** Data about an anonymous caller. */
export interface AnonymousClient {
  /** Null if the host belongs to no organization; the operation decides on the consequence. */
  readonly realmId: RealmId | null;
  readonly host: string;
  readonly ip: string;
  readonly clientName: string;
}

export type CallerOf<A extends Auth> = A extends 'user' ? Caller : AnonymousClient;

/** Program that acts for an organization instead of a user. */
export interface OrganizationClient {
  readonly realmId: RealmId;
  /** Named by audit lines. */
  readonly name: string;
}

/** Recognizes such a program by its credentials. @throws HttpRefusal 401 */
export type Authorize = (request: Request, realmId: RealmId | null, resolve: Resolve) => Promise<OrganizationClient>;

/** Input of a custom handler. */
export interface Context<A extends Auth, D, U> {
  readonly request: Request;
  readonly caller: CallerOf<A>;
  readonly dto: D;
  /** User of the browser on routes with `knowsCaller`, if logged in; perhaps of another organization. */
  readonly identity: Identity | undefined;
  /** Reason why the credentials of the browser are refused on such routes. */
  readonly refusal: unknown;
  /** Program on routes with `authorize`. */
  readonly client: OrganizationClient | undefined;
  /** Instance of the route's `useCase`. */
  readonly useCase: U;
  /** Resolves other use cases. */
  readonly resolve: Resolve;
}

/** Input of a presenter besides the use case's output. */
export interface Presentation<D, A extends Auth = Auth> {
  readonly dto: D;
  readonly caller: CallerOf<A>;
  readonly variant: ClientVariant;
  readonly request: Request;
}

/** Shows the remaining attempts of a limit counted by the use case; see `AttemptLimiter`. */
export interface ShownLimit<D, A extends Auth = Auth> {
  readonly rule: LimitRule;
  /** Rule that counts the same key instead for some callers. */
  readonly otherRule?: LimitRule;
  readonly keyOf: (dto: D, caller: CallerOf<A>) => string;
}

interface Declaration<A extends Auth, D extends object> {
  readonly auth: A;
  readonly dto: Dto<D>;
  /** Checked in this order, after authentication and before parameters. */
  readonly roleRequirements?: A extends 'user' ? readonly RoleRequirement[] : never;
  /**
   * Rule that counts the call; defaults to `api_by_user` for users and `api_by_ip` for anyone. An object also shows a
   * limit counted by the use case.
   */
  readonly limit?: LimitRule | 'none' | ShownLimit<D, A>;
  /** True to bypass Express if the server can. */
  readonly hot?: boolean;
  /** True to keep file parts, up to the server's limit; otherwise they are dropped. */
  readonly takesFiles?: boolean;
  /** Maximum size per file with `takesFiles`; longer files are truncated. Defaults to the server's limit. */
  readonly maxFileBytes?: number;
  /** With `takesFiles`, streams the first file to storage and removes it if the call fails. */
  readonly storesFiles?: boolean;
  /** True to accept bodies up to `longBodyBytes`, which are parsed in steps. */
  readonly takesLongBody?: boolean;
  /** True to provide `request.csrfToken`, only to pages of the same origin. */
  readonly tellsCsrfToken?: boolean;
  /** True to accept browser sessions under `/api/v1` too. */
  readonly takesSessions?: boolean;
  /** True to provide the user of the browser to an operation for anyone. */
  readonly knowsCaller?: boolean;
  /** Admits only programs that act for an organization, before their body is read. */
  readonly authorize?: A extends 'anyone' ? Authorize : never;
  /** True to keep the body as bytes, whatever its content type; parameters are in the query only. */
  readonly takesRawBody?: boolean;
  /** True if the handler streams the body itself, for content types without parameters. */
  readonly streamsBody?: boolean;
  /** Additional headers of `OPTIONS` as alternating names and values; equal for all methods of a path. */
  readonly optionsHeaders?: () => readonly string[];
  /** True to accept the query parameter `api_key` if there are no other credentials (protocol §7.4). */
  readonly takesKeyParameter?: boolean;
  /** True to redirect browsers that are not logged in to the log-in page (protocol §7.2). */
  readonly leadsToLogIn?: boolean;
  /** Variant for spectators; none by default. */
  readonly forSpectators?: A extends 'user' ? Route : never;
  /** True if incoming-webhook bots may call it, which holds for very few operations. */
  readonly allowsWebhookBots?: boolean;
  /** True for a GET that waits: separate limit, no HEAD, and OPTIONS always reports `OPTIONS, GET, DELETE`. */
  readonly longPoll?: boolean;
  /**
   * True if the path is relative to the mount path instead of `/api/v1`, such as `/compatibility`. Below `/json` it
   * is for browser sessions only; there it is the spectator variant of a user operation.
   */
  readonly atRoot?: boolean;
  /** True to exclude browser sessions: the path does not exist under `/json`. */
  readonly isApiOnly?: boolean;
  /** True if an overloaded server should reject the request. */
  readonly isExpensive?: boolean;
  /** True to serve it under any load: a page without its scripts and styles is broken. */
  readonly isNeverShed?: boolean;
  /**
   * Schema of success fields besides the envelope, for OpenAPI; `bytes` if not JSON. Absent without a presenter. All
   * HTTP tests check responses against it.
   */
  readonly response?: WireSchema<object> | 'bytes';
  /**
   * True if the operation impersonates any user: only for callers on this machine and never for pages of other
   * origins.
   */
  readonly isDevelopment?: boolean;
  /** Way to log in for which the operation exists; audit lines name it and every failure. */
  readonly logInMethod?: string;
  /** Renders errors of a page as a page, including those before its handler. */
  readonly errorPage?: ErrorPage;
}

export type ErrorPage = (
  failure: {
    readonly status: number;
    readonly message: string;
    readonly headers: readonly string[];
  },
  request: Request,
) => Reply | Promise<Reply>;

type PresentedResponse = WireFields | WireText;

interface UseCaseRoute<A extends Auth, D extends object, I, O> extends Declaration<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>, input: I): Promise<O> }>;
  readonly toInput: (dto: D, request: Request, caller: CallerOf<A>) => NoInfer<I>;
  /** Presents the output; absent for success without fields. Asynchronous only for long lists. */
  readonly present?: (
    output: NoInfer<O>,
    presentation: Presentation<D, A>,
  ) => PresentedResponse | Promise<PresentedResponse>;
}

interface InputlessRoute<A extends Auth, D extends object, O> extends Declaration<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>): Promise<O> }>;
  readonly toInput?: undefined;
  readonly present?: (
    output: NoInfer<O>,
    presentation: Presentation<D, A>,
  ) => PresentedResponse | Promise<PresentedResponse>;
}

interface HandlerRoute<A extends Auth, D extends object, C extends Injectable> extends Declaration<A, D> {
  readonly useCase?: C & Wired<C>;
  /** Custom handler for long polls, uploads and non-JSON responses. May resolve much later. */
  readonly handle: (context: Context<A, D, InstanceType<C>>) => Promise<Reply>;
}

/** The use case's constructor accepts what its `inject` names. */
interface Checked<C extends Injectable> {
  readonly useCase: C & Wired<C>;
}

/** Operation as declarative data; only the dispatcher calls its functions. */
export interface Route {
  readonly method: Method;
  /** Path such as `/streams/:stream_id/members`; see `matcher.ts` for segment kinds. */
  readonly path: string;
  readonly auth: Auth;
  readonly dto: Dto;
  readonly roleRequirements: readonly RoleRequirement[];
  readonly limit: LimitRule | 'none' | ShownLimit<unknown>;
  readonly hot: boolean;
  readonly takesFiles: boolean;
  readonly maxFileBytes: number | undefined;
  readonly storesFiles: boolean;
  readonly takesLongBody: boolean;
  readonly tellsCsrfToken: boolean;
  readonly takesSessions: boolean;
  readonly knowsCaller: boolean;
  readonly authorize: Authorize | undefined;
  readonly takesRawBody: boolean;
  readonly streamsBody: boolean;
  readonly optionsHeaders: (() => readonly string[]) | undefined;
  readonly takesKeyParameter: boolean;
  readonly leadsToLogIn: boolean;
  readonly forSpectators: Route | undefined;
  readonly allowsWebhookBots: boolean;
  readonly longPoll: boolean;
  readonly atRoot: boolean;
  readonly isApiOnly: boolean;
  readonly isExpensive: boolean;
  readonly isNeverShed: boolean;
  readonly isDevelopment: boolean;
  readonly logInMethod: string | undefined;
  readonly response: WireSchema<object> | 'bytes' | undefined;
  readonly errorPage: ErrorPage | undefined;
  readonly useCase: Injectable | undefined;
  readonly toInput: ((dto: unknown, request: Request, caller: CallerOf<Auth>) => unknown) | undefined;
  readonly present:
    | ((output: unknown, presentation: Presentation<unknown>) => PresentedResponse | Promise<PresentedResponse>)
    | undefined;
  readonly handle: ((context: Context<Auth, unknown, unknown>) => Promise<Reply>) | undefined;
}

/** Declares an operation. The compiler ties DTO, use case, its dependencies and the presenter together. */
export function route<A extends Auth, D extends object, I, O, C extends Injectable>(
  method: Method,
  path: string,
  spec: UseCaseRoute<A, D, I, O> & Checked<C>,
): Route;
export function route<A extends Auth, D extends object, O, C extends Injectable>(
  method: Method,
  path: string,
  spec: InputlessRoute<A, D, O> & Checked<C>,
): Route;
export function route<A extends Auth, D extends object, C extends Injectable>(
  method: Method,
  path: string,
  spec: HandlerRoute<A, D, C>,
): Route;
export function route(method: Method, path: string, spec: Partial<Route> & Pick<Route, 'auth' | 'dto'>): Route {
  const limit = spec.longPoll ? 'events_by_user' : spec.auth === 'user' ? 'api_by_user' : 'api_by_ip';
  return {
    limit,
    hot: false,
    takesFiles: false,
    maxFileBytes: undefined,
    storesFiles: false,
    takesLongBody: false,
    tellsCsrfToken: false,
    takesSessions: false,
    knowsCaller: false,
    authorize: undefined,
    takesRawBody: false,
    streamsBody: false,
    optionsHeaders: undefined,
    takesKeyParameter: false,
    leadsToLogIn: false,
    forSpectators: undefined,
    allowsWebhookBots: false,
    longPoll: false,
    atRoot: false,
    isApiOnly: false,
    isExpensive: false,
    isNeverShed: false,
    isDevelopment: false,
    logInMethod: undefined,
    response: undefined,
    errorPage: undefined,
    roleRequirements: [],
    useCase: undefined,
    toInput: undefined,
    present: undefined,
    handle: undefined,
    ...spec,
    method,
    path,
  };
}
