import {
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
  type Role,
} from '@parley/domain/access';
import type { Injectable, Resolve, Wired } from '@parley/domain/composition';
import { type Caller, type Decision, enforce, type RealmId, type UserId } from '@parley/domain/kernel';
import type { LimitRule } from '../limits/rules.js';
import type { Dto } from '../params/params.js';
import type { Identity } from '../security/authenticate.js';
import type { Reply, WireFields, WireText } from '../wire/reply.js';
import type { ClientVariant, Request } from '../wire/request.js';
import type { WireSchema } from '../wire/schema.js';
import type { OperationDocs, Undocumented } from './operation.js';
import type { Scope } from './scope.js';

/** Caller properties used by role requirements. */
export interface CallerRole {
  readonly role: Role;
  readonly isBot: boolean;
  readonly synchronizesDrafts: boolean;
}

/** Looks up the caller for the few operations that check roles before parameters. */
export interface RoleLookup {
  roleOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<CallerRole>;
}

/** Bot kind never changes, so authentication may already provide it. */
const BY_KIND = { human: mustBeHuman, bot: mustBeBot };

type RoleName = 'owner' | 'administrator' | 'member' | 'human' | 'bot';

const ROLES: Readonly<Record<RoleName, (callerRole: CallerRole) => Decision>> = {
  ...BY_KIND,
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
};

/**
 * Role requirement checked before parameters: `administrator` includes owners, `member` excludes guests, `human`
 * excludes bots, `bot` admits only bots. Features pass other rules as functions. Use cases check roles that matter only
 * for some parameters.
 */
export type RoleRequirement = RoleName | ((callerRole: CallerRole) => Decision);

/** Skips lookups if authentication already provides the data. @throws DomainError of the first unmet requirement */
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
      enforce((typeof requirement === 'function' ? requirement : ROLES[requirement])(callerRole));
    }
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Basic access, refined by role requirements and permission rules:
 * - `user`: authenticated users;
 * - `anyone`: everyone;
 * - `visitor`: everyone, with the browser's user if logged in;
 * - `program`: programs that act for an organization.
 */
export type Auth = 'user' | 'anyone' | 'visitor' | 'program';

/**
 * Handling of a request body:
 * - `form`: form fields or JSON;
 * - `long`: the same up to `longBodyBytes`, parsed in steps;
 * - `raw`: bytes of any content type, with parameters only in the query;
 * - `stream`: content types without parameters, read by the handler itself;
 * - `files`: form fields with files in memory;
 * - `storedFile`: form fields with one file, stored before the operation and removed if it fails.
 */
export type BodyKind = 'form' | 'long' | 'raw' | 'stream' | 'files' | 'storedFile';

/** Data about an anonymous caller. */
export interface AnonymousClient {
  /** Null if the host belongs to no organization; the operation handles this case. */
  readonly realmId: RealmId | null;
  readonly host: string;
  readonly ip: string;
  readonly clientName: string;
}

export type CallerOf<A extends Auth> = A extends 'user' ? Caller : AnonymousClient;

/** Program that acts for an organization instead of a user. */
export interface OrganizationClient {
  readonly realmId: RealmId;
  /** Shown in audit lines. */
  readonly name: string;
}

/** Recognizes a program by its credentials. @throws HttpRefusal 401 */
export type Authorize = (request: Request, realmId: RealmId | null, resolve: Resolve) => Promise<OrganizationClient>;

/** Input of a custom handler. */
export interface Context<A extends Auth, D, U> {
  readonly request: Request;
  readonly caller: CallerOf<A>;
  readonly dto: D;
  /** User of the browser on `visitor` routes, if logged in; may belong to another organization. */
  readonly identity: Identity | undefined;
  /** Reason why the browser's credentials were refused on `visitor` routes. */
  readonly refusal: unknown;
  /** Program on `program` routes. */
  readonly client: OrganizationClient | undefined;
  /** Instance of the route's `useCase`. */
  readonly useCase: U;
  /** Resolves other use cases. */
  readonly resolve: Resolve;
}

/** Input of a presenter in addition to the use case's output. */
export interface Presentation<D, A extends Auth = Auth> {
  readonly dto: D;
  readonly caller: CallerOf<A>;
  readonly variant: ClientVariant;
  readonly request: Request;
}

/** Shows the remaining attempts of a limit that the use case counts; see `RateLimiter.attempt`. */
export interface ShownLimit<D, A extends Auth = Auth> {
  readonly rule: LimitRule;
  /** Rule that counts the same key for some callers instead. */
  readonly otherRule?: LimitRule;
  readonly keyOf: (dto: D, caller: CallerOf<A>) => string;
}

/** Optional properties of a route and their defaults. */
interface RouteOptions<A extends Auth, D extends object> {
  readonly auth: A;
  readonly dto: Dto<D>;
  /** Recognizes the program before the body is read. */
  readonly authorize?: A extends 'program' ? Authorize : never;
  /** Checked in this order, after authentication and before parameters. */
  readonly roleRequirements?: A extends 'user' ? readonly RoleRequirement[] : never;
  /**
   * Rule that counts the call; defaults to `api_by_user` for users and `api_by_ip` for anyone. An object also shows a
   * limit counted by the use case.
   */
  readonly limit?: LimitRule | 'none' | ShownLimit<D, A>;
  /** Defaults to `form`, which drops file parts. */
  readonly body?: BodyKind;
  /** Maximum size per file of `files`; longer files are truncated. Defaults to the server's limit. */
  readonly maxFileBytes?: number;
  /**
   * Browser sessions: accepted only under `/json` by default; `none` if the path does not exist there, `everywhere` to
   * accept them under `/api/v1` too.
   */
  readonly sessions?: 'none' | 'everywhere';
  /** True to accept the query parameter `api_key` in the absence of other credentials (protocol §7.4). */
  readonly takesKeyParameter?: boolean;
  /** True if incoming-webhook bots may call the operation; very few operations allow them. */
  readonly allowsWebhookBots?: boolean;
  /** True to provide `request.csrfToken`, only to pages of the same origin. */
  readonly providesCsrfToken?: boolean;
  /** True to redirect browsers that are not logged in to the log-in page (protocol §7.2). */
  readonly leadsToLogIn?: boolean;
  /** Variant for spectators; none by default. */
  readonly forSpectators?: A extends 'user' ? Route : never;
  /** Log-in method of the operation; audit lines name it for every failure. */
  readonly logInMethod?: string;
  /**
   * True if the operation impersonates any user: only callers on this machine, and never pages of other origins, may
   * use it.
   */
  readonly isDevelopment?: boolean;
  /** True for a GET that waits: separate limit, no HEAD, and OPTIONS and every response name only the methods of the path. */
  readonly longPoll?: boolean;
  /** Additional headers of `OPTIONS` as alternating names and values; the same for all methods of a path. */
  readonly optionsHeaders?: () => readonly string[];
  /**
   * True if the path is relative to the mount path instead of `/api/v1`, such as `/compatibility`. A path below `/json`
   * is for browser sessions only, such as the spectator variant of a user operation.
   */
  readonly atRoot?: boolean;
  /** True if an overloaded server should reject the request. */
  readonly isExpensive?: boolean;
  /** True to serve the request under any load: a page without its scripts and styles is broken. */
  readonly isNeverShed?: boolean;
  /**
   * Schema of success fields, excluding the envelope, for OpenAPI; `bytes` if not JSON. Absent without a presenter. All
   * HTTP tests validate responses against it.
   */
  readonly response?: WireSchema<object> | 'bytes';
  /** Content type of `bytes`, such as `image/*`, if all responses have the same. */
  readonly contentType?: string;
  /** Content types of errors that are not JSON, by status or for all other failures. */
  readonly errorTypes?: Readonly<Partial<Record<number | 'default', string>>>;
  /** Renders errors as a page, including errors before the handler. */
  readonly errorPage?: ErrorPage;
}

export type ErrorPage = (
  failure: {
    readonly status: number;
    readonly message: string;
    readonly headers: readonly string[];
  },
  request: Request,
) => Reply;

type PresentedResponse = WireFields | WireText;

interface UseCaseRoute<A extends Auth, D extends object, I, O> extends RouteOptions<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>, input: I): Promise<O> }>;
  readonly toInput: (dto: D, request: Request, caller: CallerOf<A>) => NoInfer<I>;
  /** Presents the output; absent for success without fields. Asynchronous only for long lists. */
  readonly present?: (
    output: NoInfer<O>,
    presentation: Presentation<D, A>,
  ) => PresentedResponse | Promise<PresentedResponse>;
}

interface InputlessRoute<A extends Auth, D extends object, O> extends RouteOptions<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>): Promise<O> }>;
  readonly toInput?: never;
  readonly present?: (
    output: NoInfer<O>,
    presentation: Presentation<D, A>,
  ) => PresentedResponse | Promise<PresentedResponse>;
}

interface HandlerRoute<A extends Auth, D extends object, C extends Injectable> extends RouteOptions<A, D> {
  readonly useCase?: C & Wired<C>;
  /** Custom handler for long polls, uploads and non-JSON responses. May resolve much later. */
  readonly handle: (context: Context<A, D, InstanceType<C>>) => Promise<Reply>;
}

/** Requires that the use case's constructor accepts the dependencies named in `inject`. */
interface Checked<C extends Injectable> {
  readonly useCase: C & Wired<C>;
}

type Documents = OperationDocs | Undocumented;

/** Scope of an operation for users; others are performed without regard to tokens. */
type Scoped<A extends Auth, D> = A extends 'user' ? { readonly scope: Scope<D> } : { readonly scope?: never };

interface RouteFields extends RouteOptions<Auth, object> {
  readonly method: Method;
  /** Path such as `/streams/:stream_id/members`; see `TablePath` for segment kinds. */
  readonly path: string;
  readonly roleRequirements: readonly RoleRequirement[];
  readonly limit: LimitRule | 'none' | ShownLimit<unknown>;
  readonly body: BodyKind;
  readonly useCase?: Injectable;
  readonly toInput?: (dto: unknown, request: Request, caller: CallerOf<Auth>) => unknown;
  readonly present?: (
    output: unknown,
    presentation: Presentation<unknown>,
  ) => PresentedResponse | Promise<PresentedResponse>;
  readonly handle?: (context: Context<Auth, unknown, unknown>) => Promise<Reply>;
  /** Absent for operations without a user. */
  readonly scope?: Scope<unknown>;
}

/** Operation as declarative data; only the Express adapter calls its functions. */
export type Route = RouteFields & Documents;

/** Documented route. */
export type DocumentedRoute = RouteFields & OperationDocs;

export const isDocumented = (route: Route): route is DocumentedRoute => route.summary !== null;

/** Declares an operation. The compiler checks that DTO, use case, its dependencies and the presenter fit together. */
export function route<A extends Auth, D extends object, C extends Injectable>(
  method: Method,
  path: string,
  spec: HandlerRoute<A, D, C> & Scoped<A, D> & Documents,
): Route;
export function route<A extends Auth, D extends object, O, C extends Injectable>(
  method: Method,
  path: string,
  spec: InputlessRoute<A, D, O> & Checked<C> & Scoped<A, D> & Documents,
): Route;
export function route<A extends Auth, D extends object, I, O, C extends Injectable>(
  method: Method,
  path: string,
  spec: UseCaseRoute<A, D, I, O> & Checked<C> & Scoped<A, D> & Documents,
): Route;
export function route(
  method: Method,
  path: string,
  spec: Partial<RouteFields> & Pick<RouteFields, 'auth' | 'dto'> & Documents,
): Route {
  const limit = spec.longPoll ? 'events_by_user' : spec.auth === 'user' ? 'api_by_user' : 'api_by_ip';
  return { limit, roleRequirements: [], body: 'form', ...spec, method, path };
}
