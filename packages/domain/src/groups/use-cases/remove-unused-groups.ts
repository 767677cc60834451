import type { EventSeq, GroupId, RealmId } from '../../kernel/ids.js';
import { slicesOf } from '../../kernel/slices.js';
import type { Repositories, UnitOfWork } from '../../kernel/unit-of-work.js';

const GROUPS_AT_A_TIME = 200;

/**
 * Removes anonymous groups that were the value of a permission and are so no longer. An old event may still be for such a
 * group: it waits until all events are forgotten that were there when it was found unused. For a worker.
 */
export class RemoveUnusedGroups {
  static readonly inject = ['unitOfWork'] as const;

  /** Those found unused, and how far the log went then. */
  private readonly found = new Map<RealmId, ReadonlyMap<GroupId, EventSeq>>();

  constructor(private readonly uow: UnitOfWork) {}

  /** Answers how many it removed. */
  async execute(): Promise<number> {
    let count = 0;
    for (const { id } of await this.uow.read(({ realms }) => realms.list())) count += await this.removeIn(id);
    return count;
  }

  private async removeIn(realmId: RealmId): Promise<number> {
    const { unused, lastSeq, prunedUpTo } = await this.uow.read(async (repositories) => ({
      unused: await unusedGroups(repositories, realmId),
      lastSeq: await repositories.events.lastSeq(realmId),
      prunedUpTo: await repositories.events.prunedUpTo(realmId),
    }));
    const before = this.found.get(realmId);
    // A group that nothing refers to is never referred to again: each value that is spelt out gets a group of its own.
    const isDue = (id: GroupId) => (before?.get(id) ?? Number.POSITIVE_INFINITY) <= prunedUpTo;
    this.found.set(realmId, new Map(unused.filter((id) => !isDue(id)).map((id) => [id, before?.get(id) ?? lastSeq])));
    const due = unused.filter(isDue);
    for (const some of slicesOf(due, GROUPS_AT_A_TIME)) {
      await this.uow.write((tx) => tx.groups.removeAnonymous(realmId, some));
    }
    return due.length;
  }
}

async function unusedGroups(repositories: Repositories, realmId: RealmId): Promise<readonly GroupId[]> {
  const { realms, channels, groups } = repositories;
  const used = new Set<GroupId>(Object.values((await realms.get(realmId)).permissions));
  const holders = [...(await channels.listAll(realmId)), ...(await groups.listNamed(realmId))];
  for (const { permissions } of holders) {
    for (const id of Object.values(permissions ?? {})) used.add(id);
    await repositories.yield();
  }
  return (await groups.listAnonymousIds(realmId)).filter((id) => !used.has(id));
}
