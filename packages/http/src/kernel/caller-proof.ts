import { DomainError } from '@parley/domain/kernel';
import { type Authenticator, type Identity, notForWebhookBots, notLoggedIn } from './authenticate.js';
import type { ClientKey } from './byte-budget.js';
import type { CallLimits, CountedRequest } from './call-limits.js';
import { HttpRefusal } from './errors.js';
import { ipGroup } from './ip-groups.js';
import type { Style } from './matcher.js';
import type { ReceivedRequest } from './received-request.js';
import type { Route } from './route.js';

/** Whose credentials came with a request, or what is wrong with them. */
export type Proof = { readonly identity: Identity } | { readonly refusal: unknown; readonly isNobody?: boolean };

export const isProven = (proof: Proof | undefined): proof is { readonly identity: Identity } =>
  proof !== undefined && 'identity' in proof;

/** Who is charged for a request: a user, or an address. */
export const clientOf = (request: ReceivedRequest, proof: Proof | undefined): ClientKey =>
  isProven(proof) ? proof.identity.userId : ipGroup(request.ip);

export interface CallerProofOptions {
  /** Of programs, tried in order. */
  readonly authenticators: readonly Authenticator[];
  /** Of browsers in which somebody has logged in. */
  readonly browserAuthenticators: readonly Authenticator[];
  /** Checks an API key that came as a parameter; absent: none proves anything. */
  readonly keyParameter: Authenticator | undefined;
}

/** Finds out who sends a request. */
export class CallerProof {
  private readonly authenticators: Readonly<Record<Style, readonly Authenticator[]>>;
  private readonly keyParameter: Authenticator | undefined;

  constructor(
    { authenticators, browserAuthenticators, keyParameter }: CallerProofOptions,
    private readonly callLimits: CallLimits,
  ) {
    this.keyParameter = keyParameter;
    this.authenticators = {
      api: authenticators,
      browser: browserAuthenticators,
      root: [...new Set([...authenticators, ...browserAuthenticators])],
    };
  }

  /** Whose the credentials are. What is wrong with them matters only where somebody has to have some. */
  async prove(request: ReceivedRequest, style: Style, route?: Route): Promise<Proof> {
    const { keyParameter } = this;
    const authenticators = this.authenticators[style];
    try {
      for (const authenticator of route?.takesKeyParameter && keyParameter
        ? [...authenticators, keyParameter]
        : authenticators) {
        const identity = await authenticator.authenticate(request);
        if (identity) return { identity };
      }
      return { refusal: notLoggedIn(), isNobody: true };
    } catch (refusal) {
      return { refusal };
    }
  }

  /** @throws HttpRefusal 401, or whatever the credentials were refused with. */
  identify(proof: Proof, request: ReceivedRequest, counted: CountedRequest, route: Route): Identity {
    if ('refusal' in proof) {
      if (isRefusedCredentials(proof.refusal)) this.callLimits.countAddress('api_by_ip', request, counted);
      throw proof.refusal;
    }
    if (proof.identity.botKind === 'incomingWebhook' && !route.allowsWebhookBots) throw notForWebhookBots();
    return proof.identity;
  }
}

/** The sender's mistake, and not our storage's. */
const isRefusedCredentials = (error: unknown): boolean =>
  error instanceof HttpRefusal || (error instanceof DomainError && error.code === 'UNAUTHENTICATED');
