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

/** What role requirements ask about a caller. */
export interface CallerRole {
  readonly role: Role;
  readonly isBot: boolean;
  readonly synchronizesDrafts: boolean;
}

/** Looks up who is calling, for the few operations that refuse by role before they look at parameters. */
export interface RoleLookup {
  roleOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<CallerRole>;
}

/**
 * `administrator`: or owner. `member`: anyone but guests. `human`: no bots. `bot`: only bots.
 * `synchronizesDrafts`: whoever keeps drafts on the server. `changesDefaultChannels`: administrators, refused in words of their own.
 * These come before the parameters; a role that matters only for some of them is a permission rule of the use case.
 */
export type RoleRequirement =
  | 'owner'
  | 'administrator'
  | 'member'
  | 'human'
  | 'bot'
  | 'synchronizesDrafts'
  | 'changesDefaultChannels';

/** They never change: whoever proved who they are may have proved this too. */
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

/** Looks nothing up that the caller has proved. @throws DomainError of the first requirement that is not met. */
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

/** Who may call at all: somebody who proves who they are, or anybody. Everything finer is a role requirement or a permission rule. */
export type Auth = 'user' | 'anyone';

/** What is known of a caller who proved nothing. */
export interface AnonymousClient {
  /** Null when the host name belongs to no organization; what that means is up to the operation. */
  readonly realmId: RealmId | null;
  readonly host: string;
  readonly ip: string;
  readonly clientName: string;
}

export type CallerOf<A extends Auth> = A extends 'user' ? Caller : AnonymousClient;

/** What a hand-written handler gets. */
export interface Context<A extends Auth, D, U> {
  readonly request: Request;
  readonly caller: CallerOf<A>;
  readonly dto: D;
  /** The instance of the route's `useCase`. */
  readonly useCase: U;
  /** For another one. */
  readonly resolve: Resolve;
}

/** What a presenter may know beside the use case's output. */
export interface Presentation<D, A extends Auth = Auth> {
  readonly dto: D;
  readonly caller: CallerOf<A>;
  readonly variant: ClientVariant;
  readonly request: Request;
}

/** Shows the attempts left of a limit that the use case itself counts; see `AttemptLimiter`. */
export interface ShownLimit<D, A extends Auth = Auth> {
  readonly rule: LimitRule;
  readonly keyOf: (dto: D, caller: CallerOf<A>) => string;
}

interface Declaration<A extends Auth, D extends object> {
  readonly auth: A;
  readonly dto: Dto<D>;
  /** Checked in this order, after authentication and before parameters. */
  readonly roleRequirements?: A extends 'user' ? readonly RoleRequirement[] : never;
  /**
   * The rule that counts the call; default: `api_by_user` for users, `api_by_ip` for anyone. An object shows what the use
   * case counts besides.
   */
  readonly limit?: LimitRule | 'none' | ShownLimit<D, A>;
  /** Dispatched ahead of Express where the server can. */
  readonly hot?: boolean;
  /** File parts are kept, up to the server's limit; elsewhere they are dropped. */
  readonly takesFiles?: boolean;
  /** Where `takesFiles`: of one file; of a longer one only the beginning comes. Default: the server's limit. */
  readonly maxFileBytes?: number;
  /** Where `takesFiles`: the first file's bytes are put into the storage of files as they come, and removed if the call fails. */
  readonly storesFiles?: boolean;
  /** Answers `request.csrfToken`, to pages of the same origin alone. */
  readonly tellsCsrfToken?: boolean;
  /** Under `/api/v1` too for browsers in which somebody has logged in. */
  readonly takesSessions?: boolean;
  /** Reads the body itself, as it comes, where that is none of the kinds that hold parameters. */
  readonly streamsBody?: boolean;
  /** What `OPTIONS` answers beside the methods: name, value, name, value … The same for all methods of a path. */
  readonly optionsHeaders?: () => readonly string[];
  /** A parameter `api_key` of the query proves who calls, where nothing else does (protocol §7.4). */
  readonly takesKeyParameter?: boolean;
  /** The form of it that those get who have not logged in; default: none. */
  readonly forSpectators?: A extends 'user' ? Route : never;
  /** Incoming-webhook bots may do nearly nothing else. */
  readonly allowsWebhookBots?: boolean;
  /** A GET that waits: limited on its own, no HEAD, and its path announces `OPTIONS, GET, DELETE` whatever it has. */
  readonly longPoll?: boolean;
  /**
   * The path counts from the mount path, not from `/api/v1`: `/compatibility`. Below `/json` it is for browser sessions only: of an
   * operation for users the form for anyone, which those get who have not logged in.
   */
  readonly atRoot?: boolean;
  /** Not for browser sessions: there is no such path under `/json`. */
  readonly isApiOnly?: boolean;
  /** Costs so much that an overloaded server refuses it. */
  readonly isExpensive?: boolean;
  /**
   * The fields of a success beside the envelope, for the OpenAPI document; `bytes`: it is no JSON. Absent where there is no
   * presenter: there are none. Every test through HTTP checks answers by it.
   */
  readonly answer?: WireSchema<object> | 'bytes';
  /** Lets anybody be anybody: answers only to this machine itself, and to no page of another origin. */
  readonly isDevelopment?: boolean;
  /** Of a page for browsers: what is refused before it is asked is answered as a page too. */
  readonly errorPage?: ErrorPage;
}

export type ErrorPage = (failure: {
  readonly status: number;
  readonly message: string;
  readonly headers: readonly string[];
}) => Reply;

type Answer = WireFields | WireText;

interface UseCaseRoute<A extends Auth, D extends object, I, O> extends Declaration<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>, input: I): Promise<O> }>;
  readonly toInput: (dto: D, request: Request, caller: CallerOf<A>) => NoInfer<I>;
  /** Absent: success without fields. Asynchronous only for wide lists. */
  readonly present?: (output: NoInfer<O>, presentation: Presentation<D, A>) => Answer | Promise<Answer>;
}

interface InputlessRoute<A extends Auth, D extends object, O> extends Declaration<A, D> {
  readonly useCase: Injectable<{ execute(caller: CallerOf<A>): Promise<O> }>;
  readonly toInput?: undefined;
  readonly present?: (output: NoInfer<O>, presentation: Presentation<D, A>) => Answer | Promise<Answer>;
}

interface HandlerRoute<A extends Auth, D extends object, C extends Injectable> extends Declaration<A, D> {
  readonly useCase?: C & Wired<C>;
  /** By hand: long polls, uploads, answers that are not JSON. May resolve much later. */
  readonly handle: (context: Context<A, D, InstanceType<C>>) => Promise<Reply>;
}

/** The use case's constructor accepts what its `inject` names. */
interface Checked<C extends Injectable> {
  readonly useCase: C & Wired<C>;
}

/** An operation, as the table holds it. Everything about it can be read off; only the dispatcher calls the functions. */
export interface Route {
  readonly method: Method;
  /** `/streams/:stream_id/members`; see `matcher.ts` for the kinds of segments. */
  readonly path: string;
  readonly auth: Auth;
  readonly dto: Dto;
  readonly roleRequirements: readonly RoleRequirement[];
  readonly limit: LimitRule | 'none' | ShownLimit<unknown>;
  readonly hot: boolean;
  readonly takesFiles: boolean;
  readonly maxFileBytes: number | undefined;
  readonly storesFiles: boolean;
  readonly tellsCsrfToken: boolean;
  readonly takesSessions: boolean;
  readonly streamsBody: boolean;
  readonly optionsHeaders: (() => readonly string[]) | undefined;
  readonly takesKeyParameter: boolean;
  readonly forSpectators: Route | undefined;
  readonly allowsWebhookBots: boolean;
  readonly longPoll: boolean;
  readonly atRoot: boolean;
  readonly isApiOnly: boolean;
  readonly isExpensive: boolean;
  readonly isDevelopment: boolean;
  readonly answer: WireSchema<object> | 'bytes' | undefined;
  readonly errorPage: ErrorPage | undefined;
  readonly useCase: Injectable | undefined;
  readonly toInput: ((dto: unknown, request: Request, caller: CallerOf<Auth>) => unknown) | undefined;
  readonly present: ((output: unknown, presentation: Presentation<unknown>) => Answer | Promise<Answer>) | undefined;
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
    tellsCsrfToken: false,
    takesSessions: false,
    streamsBody: false,
    optionsHeaders: undefined,
    takesKeyParameter: false,
    forSpectators: undefined,
    allowsWebhookBots: false,
    longPoll: false,
    atRoot: false,
    isApiOnly: false,
    isExpensive: false,
    isDevelopment: false,
    answer: undefined,
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
