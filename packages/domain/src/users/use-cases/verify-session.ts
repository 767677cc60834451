import { isRenewalDue, type Session, type SessionTokens, sessionExpiry } from '../../access/session.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { EventListener } from '../../kernel/event-listener.js';
import type { StoredEvent } from '../../kernel/event-log.js';
import type { RealmId, SessionId, UserId } from '../../kernel/ids.js';
import type { ReportProblem } from '../../kernel/problem-log.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { KnownCallers } from '../known-callers.js';
import type { BotKind } from '../user.js';
import { accountDeactivated, realmDeactivated } from './password-log-in.js';

export interface VerifiedSession {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly sessionId: SessionId;
  /** Null: a person. */
  readonly botKind: BotKind | null;
  /** What the browser's own pages prove with that a request comes from them. */
  readonly csrfToken: string;
}

interface KnownSession {
  readonly userId: UserId;
  readonly botKind: BotKind | null;
  readonly csrfToken: string;
  session: Session;
}

/** Who calls, by the token of a session (protocol §7.6). A session that is known costs no read, and a write in ten minutes. */
export class VerifySession implements EventListener {
  static readonly inject = ['unitOfWork', 'sessionTokens', 'clock', 'report'] as const;

  /** By fingerprint. */
  private readonly known = new KnownCallers<KnownSession>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  /** Null: there is no such session in this realm, or it has expired. @throws DomainError REALM_DEACTIVATED, USER_DEACTIVATED */
  async execute({ realmId }: AnonymousCaller, token: string): Promise<VerifiedSession | null> {
    const fingerprint = this.tokens.fingerprint(token);
    const known =
      this.known.find(fingerprint) ??
      (await this.known.lookUp(fingerprint, () => this.lookUp(fingerprint, this.tokens.csrfTokenOf(token))));
    const now = this.clock.now();
    if (!known || known.session.realmId !== realmId || known.session.expiresAt <= now) return null;
    if (isRenewalDue(known.session, now)) await this.renew(known, now);
    const { userId, botKind, csrfToken } = known;
    return { realmId, userId, botKind, sessionId: known.session.id, csrfToken };
  }

  onEvents(events: readonly StoredEvent[]): void {
    this.known.onEvents(events);
  }

  onUnreadable(): void {
    this.known.onUnreadable();
  }

  private lookUp(fingerprint: string, csrfToken: string): Promise<KnownSession | null> {
    return this.uow.read(async ({ sessions, users, realms }) => {
      const session = await sessions.findByFingerprint(fingerprint);
      const user = session && (await users.find(session.realmId, session.userId));
      if (!user) return null;
      // Their sessions have ended already, unless something is amiss.
      if ((await realms.get(session.realmId)).isDeactivated) throw realmDeactivated();
      if (!user.isActive) throw accountDeactivated();
      return { userId: session.userId, botKind: user.bot?.kind ?? null, csrfToken, session };
    });
  }

  /** Who calls is let in all the same where this fails. */
  private async renew(known: KnownSession, now: number): Promise<void> {
    const use = { lastUsedAt: now, expiresAt: sessionExpiry(known.session.createdAt, now) };
    // At once, so that of many requests at the same time one writes it down.
    known.session = { ...known.session, ...use };
    try {
      await this.uow.write((tx) => tx.sessions.renew(known.session.id, use));
    } catch (err) {
      this.report('writing down that a session is used failed', { err });
    }
  }
}
