import { isAtLeast } from '../../access/role.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { DevelopmentMode } from '../../kernel/development-mode.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { notInProduction, requireDevelopmentAuth } from './fetch-development-api-key.js';
import { unknownRealm } from './password-log-in.js';

export interface DevelopmentUsers {
  /** Addresses to sign in with; people only. */
  readonly administrators: readonly string[];
  readonly others: readonly string[];
  readonly realmUrl: string;
}

/** Whom one can be (protocol §8.2); only in development. */
export class ListDevelopmentUsers {
  static readonly inject = ['unitOfWork', 'realmUrls', 'developmentMode'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmUrls,
    private readonly mode: DevelopmentMode,
  ) {}

  /** @throws DomainError NOT_IN_PRODUCTION, UNKNOWN_REALM, DEVELOPMENT_AUTH_DISABLED */
  async execute({ realmId }: AnonymousCaller): Promise<DevelopmentUsers> {
    if (!this.mode.isOn) throw notInProduction();
    if (realmId === null) throw unknownRealm();
    return this.uow.read(async ({ realms, users }) => {
      const realm: Realm = await realms.get(realmId);
      requireDevelopmentAuth(realm);
      const heads = (await users.listEntries(realmId)).filter((head) => head.isActive);
      const ids = heads.map((head) => head.id);
      const people = (await users.list(realmId, ids)).filter((user) => !user.bot);
      const emails = (areAdministrators: boolean) =>
        people.filter((user) => isAtLeast(user.role, 'administrator') === areAdministrators).map((user) => user.email);
      return { administrators: emails(true), others: emails(false), realmUrl: this.addresses.urlOf(realm) };
    });
  }
}
