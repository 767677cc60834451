import type { Caller } from '../../../kernel/caller.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import type { Linkifier } from '../linkifier.js';

/** In the order in which they are applied; anybody may know them (organization §6). */
export class ListLinkifiers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute({ realmId }: Caller): Promise<readonly Linkifier[]> {
    return (await this.uow.read(({ realms }) => realms.get(realmId))).linkifiers;
  }
}
