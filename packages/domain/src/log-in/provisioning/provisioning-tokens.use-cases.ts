import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Clock } from '../../kernel/ports.js';
import { isLongerThan, trim } from '../../kernel/text.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ContentDigest } from '../../writing/update-message.use-cases.js';
import type { LogInTokens } from '../log-in-methods.js';
import { MAX_PROVISIONING_TOKENS, MAX_TOKEN_NAME_LENGTH, type ProvisioningToken } from './provisioning.js';

interface TokenReference {
  readonly realmId: RealmId;
  readonly name: string;
}

/** Creates a token for a directory on behalf of the operator. Returns the token; only its hash is stored. */
export class IssueProvisioningToken {
  static readonly inject = ['unitOfWork', 'logInTokens', 'contentDigest', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: LogInTokens,
    private readonly digest: ContentDigest,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError INVALID_TOKEN_NAME, TOKEN_NAME_TAKEN, TOO_MANY_TOKENS */
  async execute({ realmId, name: raw }: TokenReference): Promise<string> {
    const name = trim(raw);
    if (name === '' || isLongerThan(name, MAX_TOKEN_NAME_LENGTH) || /[\p{Cc}\p{Cs}]/u.test(name)) {
      throw new DomainError('INVALID_TOKEN_NAME', `A name has 1 to ${MAX_TOKEN_NAME_LENGTH} characters.`);
    }
    const token = this.tokens.make();
    await this.uow.write(realmId, async (tx) => {
      const present = await tx.provisioning.listTokens(realmId);
      if (present.some((one) => one.name === name)) {
        throw new DomainError('TOKEN_NAME_TAKEN', `There is a token '${name}' already.`);
      }
      if (present.length >= MAX_PROVISIONING_TOKENS) {
        throw new DomainError('TOO_MANY_TOKENS', `Too many tokens (limit: ${MAX_PROVISIONING_TOKENS}).`);
      }
      await tx.provisioning.addToken({ realmId, name, createdAt: this.clock.now() }, this.digest(token));
    });
    return token;
  }
}

/** Lists the tokens of an organization by name. */
export class ListProvisioningTokens {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(realmId: RealmId): Promise<readonly ProvisioningToken[]> {
    return this.uow.read(realmId, ({ provisioning }) => provisioning.listTokens(realmId));
  }
}

/** Revokes a token with immediate effect. */
export class RevokeProvisioningToken {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_TOKEN */
  async execute({ realmId, name }: TokenReference): Promise<void> {
    const isRemoved = await this.uow.write(realmId, (tx) => tx.provisioning.removeToken(realmId, name));
    if (!isRemoved) throw new DomainError('UNKNOWN_TOKEN', `There is no token '${name}'.`);
  }
}

/** Verifies a directory's token. */
export class VerifyProvisioningToken {
  static readonly inject = ['unitOfWork', 'contentDigest'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
  ) {}

  /** Returns null if the organization has no such token or is deactivated. */
  async execute(realmId: RealmId | null, token: string): Promise<ProvisioningToken | null> {
    if (realmId === null) return null;
    const fingerprint = this.digest(token);
    return this.uow.read(realmId, async ({ provisioning, realms }) =>
      (await realms.get(realmId)).isDeactivated ? null : provisioning.findToken(realmId, fingerprint),
    );
  }
}
