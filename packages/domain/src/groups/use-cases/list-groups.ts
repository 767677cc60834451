import { mustNotBeGuest } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { GroupView } from '../group.js';

/** Named groups, those of the system too (users §12.3). */
export class ListGroups {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Ascending id. @throws DomainError MUST_NOT_BE_GUEST */
  execute(caller: Caller, { includesDeactivated }: { readonly includesDeactivated: boolean }): Promise<GroupView[]> {
    return this.uow.read(async ({ actors, groups }) => {
      enforce(mustNotBeGuest(await actors.get(caller)));
      const views = await groups.listViews(caller.realmId);
      return views.filter((group) => includesDeactivated || !group.isDeactivated);
    });
  }
}
