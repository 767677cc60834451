import type { EventListener } from '../../events/event-listener.js';
import type { StoredEvent } from '../../events/event-log.js';
import { DomainError } from '../../shared/errors.js';
import type { RealmId, UserId } from '../../shared/ids.js';
import { foldCase } from '../../shared/text.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import type { ApiKeyMint } from '../api-keys.js';
import { type AnonymousCaller, accountDeactivated, realmDeactivated } from './fetch-api-key.js';

export interface VerifyApiKeyInput {
  /** Null: whose the key is. */
  readonly email: string | null;
  /** 32 letters and digits; whoever takes it from a request has checked that. */
  readonly apiKey: string;
}

export interface VerifiedUser {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly isIncomingWebhook: boolean;
}

/** So many keys are kept at hand. */
const MAX_KNOWN = 10_000;

/** Who calls, by address and key (protocol §7.2); the refusals come in the contract's order. */
export class VerifyApiKey implements EventListener {
  /** By address and fingerprint. Only those who passed, and only until something about them changes. */
  private readonly known = new Map<string, VerifiedUser>();
  /** Counts the times something was forgotten: what was looked up before is not kept then. */
  private forgotten = 0;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
  ) {}

  /** @throws DomainError UNAUTHENTICATED, REALM_DEACTIVATED, USER_DEACTIVATED */
  async execute({ realmId }: AnonymousCaller, { email, apiKey }: VerifyApiKeyInput): Promise<VerifiedUser> {
    const fingerprint = this.mint.fingerprint(apiKey);
    const claim = `${fingerprint}:${foldCase(email ?? '')}`;
    const user = this.known.get(claim) ?? (await this.lookUp(claim, fingerprint, email));
    if (user.realmId !== realmId) {
      throw new DomainError('UNAUTHENTICATED', 'Account is not associated with this subdomain');
    }
    return user;
  }

  private async lookUp(claim: string, fingerprint: string, email: string | null): Promise<VerifiedUser> {
    const { forgotten } = this;
    const verified = await this.uow.read(async ({ apiKeys, users, realms }) => {
      const record = await apiKeys.findByFingerprint(fingerprint);
      const user = record && (await users.find(record.realmId, record.userId));
      if (!user || (email !== null && foldCase(user.email) !== foldCase(email))) {
        throw new DomainError('UNAUTHENTICATED', 'Invalid API key');
      }
      if ((await realms.get(user.realmId)).isDeactivated) throw realmDeactivated();
      if (!user.isActive) throw accountDeactivated();
      const isIncomingWebhook = user.bot?.kind === 'incomingWebhook';
      return { realmId: user.realmId, userId: user.id, isIncomingWebhook };
    });
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    if (this.forgotten === forgotten) this.known.set(claim, verified);
    return verified;
  }

  /** Forgets whom these events change. */
  onEvents(events: readonly StoredEvent[]): void {
    for (const { event } of events) {
      if (
        event.type === 'user.activation_changed' ||
        event.type === 'user.api_key_replaced' ||
        event.type === 'user.credentials_changed'
      ) {
        this.forgotten++;
        for (const [claim, user] of this.known) if (user.userId === event.userId) this.known.delete(claim);
      } else if (event.type === 'realm.deactivated') {
        this.forgetAll();
      }
    }
  }

  /** It may have been about anybody. */
  onUnreadable(): void {
    this.forgetAll();
  }

  private forgetAll(): void {
    this.forgotten++;
    this.known.clear();
  }
}
