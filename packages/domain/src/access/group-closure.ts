import type { GroupId, UserId } from '../kernel/ids.js';
import { type Decision, denyIf } from '../kernel/permission.js';
import { getOrThrow } from '../kernel/work.js';
import type {} from './roles.js';

/** Direct containment of a subgroup in a group. */
export interface GroupEdge {
  readonly subgroupId: GroupId;
  readonly groupId: GroupId;
}

/** Denies adding subgroups that are or contain `groupId` at any depth (users §12.4). */
export function staysAcyclic(edges: Iterable<GroupEdge>, groupId: GroupId, subgroupIds: readonly GroupId[]): Decision {
  const holders = groupsHolding(edges, groupId);
  return denyIf(
    subgroupIds.some((id) => holders.has(id)),
    'GROUP_CYCLE',
    `User group ${groupId} is already a subgroup of one of the passed subgroups.`,
  );
}

/** Returns the group and all groups that contain it at any depth, including deactivated ones. */
export const groupsHolding = (edges: Iterable<GroupEdge>, id: GroupId): ReadonlySet<GroupId> =>
  reachable(edges, [id], ({ subgroupId, groupId }) => [subgroupId, groupId]);

/** Returns the groups and all groups they contain at any depth, including deactivated ones. */
export const groupsHeldBy = (edges: Iterable<GroupEdge>, ids: Iterable<GroupId>): ReadonlySet<GroupId> =>
  reachable(edges, ids, ({ subgroupId, groupId }) => [groupId, subgroupId]);

function reachable(
  edges: Iterable<GroupEdge>,
  ids: Iterable<GroupId>,
  direction: (edge: GroupEdge) => readonly [from: GroupId, to: GroupId],
): ReadonlySet<GroupId> {
  const next = new Map<GroupId, GroupId[]>();
  for (const edge of edges) {
    const [from, to] = direction(edge);
    const existing = next.get(from);
    if (existing) existing.push(to);
    else next.set(from, [to]);
  }
  const found = new Set(ids);
  // Set iteration includes elements added during the loop.
  for (const group of found) for (const neighbour of next.get(group) ?? []) found.add(neighbour);
  return found;
}

/** Group data in the closure. */
export interface ClosureGroup {
  readonly id: GroupId;
  /** Members stay in a deactivated group but do not count towards groups that contain it. */
  readonly isDeactivated: boolean;
  readonly memberIds: Iterable<UserId>;
  readonly subgroupIds: Iterable<GroupId>;
}

interface Node {
  readonly id: GroupId;
  readonly index: number;
  isDeactivated: boolean;
  readonly holders: Set<Node>;
  readonly subgroups: Set<Node>;
}

/** Bit set of groups, which makes unions cheap. Bits past the end are zero. */
type Bits = Uint32Array;

/**
 * Transitive closure of group membership, updated incrementally. A change between groups costs one pass over them; a
 * membership change is nearly free. Users in the same groups share one set.
 */
export class GroupClosure {
  private readonly nodes = new Map<GroupId, Node>();
  private readonly directGroups = new Map<UserId, Set<Node>>();
  /** Group at each index, with all groups that contain it; empty while stale. */
  private reached: Bits[] = [];
  private readonly sets = new Map<string, ReadonlySet<GroupId>>();
  /** Cache for requested users; other results come from `sets`. */
  private readonly closures = new Map<UserId, ReadonlySet<GroupId>>();

  /** @throws Error if the groups form a cycle. */
  constructor(groups: Iterable<ClosureGroup> = []) {
    const all = [...groups];
    for (const group of all) this.addGroup(group.id, group.isDeactivated);
    for (const group of all) {
      this.addMembers(group.id, group.memberIds);
      for (const subgroupId of group.subgroupIds) this.link(subgroupId, group.id);
    }
    this.reach();
  }

  /** Returns all groups of the user; empty for unknown users. */
  groupsOf(userId: UserId): ReadonlySet<GroupId> {
    let groups = this.closures.get(userId);
    if (groups === undefined) {
      const direct = this.directGroups.get(userId);
      if (direct === undefined) return NO_GROUPS;
      groups = this.groupsAround(direct);
      this.closures.set(userId, groups);
    }
    return groups;
  }

  /** True if the groups are equal, or the inner one is contained at any depth through active groups. */
  isWithin(innerId: GroupId, outerId: GroupId): boolean {
    const inner = this.nodes.get(innerId);
    const outer = this.nodes.get(outerId);
    return inner !== undefined && outer !== undefined && hasBit(this.reach()[inner.index]!, outer.index);
  }

  addGroup(id: GroupId, isDeactivated = false): void {
    if (this.nodes.has(id)) return;
    const index = this.nodes.size;
    this.nodes.set(id, { id, index, isDeactivated, holders: new Set(), subgroups: new Set() });
    // No group contains the new group yet, so existing reach sets stay valid.
    if (this.reached.length === index) this.reached.push(bitsWith(index));
  }

  setDeactivated(id: GroupId, isDeactivated: boolean): void {
    this.node(id).isDeactivated = isDeactivated;
    this.forget();
  }

  addMembers(id: GroupId, userIds: Iterable<UserId>): void {
    const node = this.node(id);
    for (const userId of userIds) {
      const direct = this.directGroups.get(userId);
      if (direct) direct.add(node);
      else this.directGroups.set(userId, new Set([node]));
      this.closures.delete(userId);
    }
  }

  removeMembers(id: GroupId, userIds: Iterable<UserId>): void {
    const node = this.node(id);
    for (const userId of userIds) {
      this.directGroups.get(userId)?.delete(node);
      this.closures.delete(userId);
    }
  }

  /** @throws Error if this would form a cycle, without changing anything; use `staysAcyclic` to check beforehand. */
  addSubgroups(id: GroupId, subgroupIds: Iterable<GroupId>): void {
    const added = [...subgroupIds];
    if (added.length === 0) return;
    if (!staysAcyclic(this.edges(), id, added).allowed) throw new Error(`Group ${id} would contain itself.`);
    for (const subgroupId of added) this.link(subgroupId, id);
  }

  removeSubgroups(id: GroupId, subgroupIds: Iterable<GroupId>): void {
    const group = this.node(id);
    for (const subgroupId of subgroupIds) {
      const subgroup = this.node(subgroupId);
      subgroup.holders.delete(group);
      group.subgroups.delete(subgroup);
    }
    this.forget();
  }

  private link(subgroupId: GroupId, groupId: GroupId): void {
    const subgroup = this.node(subgroupId);
    const group = this.node(groupId);
    subgroup.holders.add(group);
    group.subgroups.add(subgroup);
    this.forget();
  }

  private node(id: GroupId): Node {
    const node = this.nodes.get(id);
    if (!node) throw new Error(`There is no group ${id}.`);
    return node;
  }

  private *edges(): Iterable<GroupEdge> {
    for (const group of this.nodes.values()) {
      for (const subgroup of group.subgroups) yield { subgroupId: subgroup.id, groupId: group.id };
    }
  }

  private forget(): void {
    this.reached = [];
    this.sets.clear();
    this.closures.clear();
  }

  /** Users with the same direct groups share the result. */
  private groupsAround(direct: ReadonlySet<Node>): ReadonlySet<GroupId> {
    const key = [...direct]
      .map(({ index }) => index)
      .sort((a, b) => a - b)
      .join();
    let groups = this.sets.get(key);
    if (groups === undefined) {
      groups = this.union(direct);
      this.sets.set(key, groups);
    }
    return groups;
  }

  private union(nodes: Iterable<Node>): ReadonlySet<GroupId> {
    const reached = this.reach();
    const bits = new Uint32Array(wordsFor(this.nodes.size));
    for (const { index } of nodes) include(bits, reached[index]!);
    const groups = new Set<GroupId>();
    for (const { id, index } of this.nodes.values()) if (hasBit(bits, index)) groups.add(id);
    return groups;
  }

  /** Processes outer groups first, so that the sets of containing groups are complete. */
  private reach(): readonly Bits[] {
    if (this.reached.length === this.nodes.size) return this.reached;
    const waiting = new Map<Node, number>();
    const ready: Node[] = [];
    for (const node of this.nodes.values()) {
      waiting.set(node, node.holders.size);
      if (node.holders.size === 0) ready.push(node);
    }
    const reached = new Array<Bits>(this.nodes.size);
    for (const node of ready) {
      const bits = bitsWith(node.index, this.nodes.size);
      if (!node.isDeactivated) for (const holder of node.holders) include(bits, reached[holder.index]!);
      reached[node.index] = bits;
      for (const subgroup of node.subgroups) {
        const left = getOrThrow(waiting, subgroup) - 1;
        waiting.set(subgroup, left);
        if (left === 0) ready.push(subgroup);
      }
    }
    if (ready.length < this.nodes.size) throw new Error('Groups contain each other in a cycle.');
    this.reached = reached;
    return reached;
  }
}

const NO_GROUPS: ReadonlySet<GroupId> = new Set();

const wordsFor = (count: number): number => (count + 31) >>> 5;

/** Returns a bit set with one bit and capacity for `count` groups. */
function bitsWith(index: number, count = index + 1): Bits {
  const bits = new Uint32Array(wordsFor(count));
  bits[index >>> 5]! |= 1 << (index & 31);
  return bits;
}

const hasBit = (bits: Bits, index: number): boolean => ((bits[index >>> 5]! >>> (index & 31)) & 1) === 1;

function include(bits: Bits, others: Bits): void {
  for (let word = 0; word < others.length; word++) bits[word]! |= others[word]!;
}
