import type { ApiKeyRecord } from '@parley/domain/authentication';
import type { Channel, Subscription, TopicPolicy } from '@parley/domain/channels';
import type { EncodedQueue, EncodedRow } from '@parley/domain/events';
import type { Group } from '@parley/domain/groups';
import type { StoredJob } from '@parley/domain/jobs';
import type { Message, PersonalFlags, Recipient, Submessage } from '@parley/domain/messages';
import type { Reaction } from '@parley/domain/reactions';
import type { Realm } from '@parley/domain/realms';
import type {
  ChannelId,
  Clock,
  EventSeq,
  GroupId,
  JobId,
  MessageId,
  RealmId,
  RecipientId,
  UnixSeconds,
  UserId,
} from '@parley/domain/shared';
import type { SystemBotKind, User } from '@parley/domain/users';

export interface UserRow {
  readonly user: User;
  readonly passwordHash: string | null;
  /** Null for members of the realm. */
  readonly systemKind: SystemBotKind | null;
}

export interface GroupRow {
  readonly group: Group;
  /** Ascending; deactivated users too. */
  readonly memberIds: readonly UserId[];
  /** Ascending. */
  readonly subgroupIds: readonly GroupId[];
}

/** A user received what was sent to a recipient while one of these was open. */
export interface SpanRow {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly recipientId: RecipientId;
  readonly fromSeq: EventSeq;
  readonly toSeq: EventSeq | null;
}

/** What a message is to one person: the row that real storage does without. */
export interface PersonalRow {
  readonly userId: UserId;
  readonly messageId: MessageId;
  readonly flags: PersonalFlags;
}

export interface FormerHolders {
  readonly realmId: RealmId;
  /** Ascending. */
  readonly userIds: readonly UserId[];
}

export interface ApiKeyRow {
  readonly record: ApiKeyRecord;
  readonly fingerprint: string;
}

export interface JobRow extends StoredJob {
  /** Null while it waits. */
  readonly setAsideAt: UnixSeconds | null;
}

/** Rows are never changed in place. Tables keyed by an id ascend, because ids are given in that order. */
export interface Tables {
  /** The last number given, by what it counts. */
  readonly counters: Map<string, number>;
  readonly realms: Map<RealmId, Realm>;
  readonly users: Map<UserId, UserRow>;
  readonly groups: Map<GroupId, GroupRow>;
  readonly channels: Map<ChannelId, Channel>;
  /** By `keyOf(user, channel)`. */
  readonly subscriptions: Map<string, Subscription>;
  /** By `keyOf(user, channel, topic key)`. */
  readonly topicPolicies: Map<string, TopicPolicy>;
  readonly recipients: Map<RecipientId, Recipient>;
  readonly messages: Map<MessageId, Message>;
  /** By id. */
  readonly submessages: Map<number, Submessage>;
  /** By message; oldest first, at least one. */
  readonly reactions: Map<MessageId, readonly Reaction[]>;
  /** By `keyOf(user, message)`. */
  readonly personalRows: Map<string, PersonalRow>;
  /** Who had what was deleted since: the receivers of the event that tells of it. */
  readonly formerHolders: Map<MessageId, FormerHolders>;
  /** By number, in order of opening. */
  readonly spans: Map<number, SpanRow>;
  /** `keyOf(user, muted user)`. */
  readonly mutes: Map<string, true>;
  /** Ascending seq. */
  readonly events: Map<RealmId, readonly EncodedRow[]>;
  readonly prunedUpTo: Map<RealmId, number>;
  readonly queues: Map<string, EncodedQueue>;
  readonly apiKeys: Map<UserId, ApiKeyRow>;
  /** By name. */
  readonly secrets: Map<string, string>;
  readonly jobs: Map<JobId, JobRow>;
}

type ReadonlyTable<T> = T extends Map<infer K, infer V> ? ReadonlyMap<K, V> : never;

export function emptyTables(): Tables {
  return {
    counters: new Map(),
    realms: new Map(),
    users: new Map(),
    groups: new Map(),
    channels: new Map(),
    subscriptions: new Map(),
    topicPolicies: new Map(),
    recipients: new Map(),
    messages: new Map(),
    submessages: new Map(),
    reactions: new Map(),
    personalRows: new Map(),
    formerHolders: new Map(),
    spans: new Map(),
    mutes: new Map(),
    events: new Map(),
    prunedUpTo: new Map(),
    queues: new Map(),
    apiKeys: new Map(),
    secrets: new Map(),
    jobs: new Map(),
  };
}

export const keyOf = (...parts: readonly (number | string)[]): string => parts.join(':');
export const ascending = (a: number, b: number): number => a - b;

/** One unit's view of the tables: those committed when it began, and copies of the ones it changes. */
export class MemoryUnit {
  private readonly changed = new Map<keyof Tables, Tables[keyof Tables]>();
  private hasEnded = false;

  constructor(
    private readonly committed: Tables,
    private readonly isWritable: boolean,
    readonly clock: Clock,
  ) {}

  read<N extends keyof Tables>(name: N): ReadonlyTable<Tables[N]> {
    this.refuseAfterEnd();
    return (this.changed.get(name) ?? this.committed[name]) as unknown as ReadonlyTable<Tables[N]>;
  }

  change<N extends keyof Tables>(name: N): Tables[N] {
    this.refuseAfterEnd();
    if (!this.isWritable) throw new Error(`A reading unit tried to change ${name}`);
    let copy = this.changed.get(name) as Tables[N] | undefined;
    if (!copy) {
      copy = new Map(this.committed[name] as Map<never, never>) as unknown as Tables[N];
      this.changed.set(name, copy);
    }
    return copy;
  }

  /** 1, 2, 3 … for each counter, whatever was deleted meanwhile. */
  nextNumber<T extends number>(counter: string): T {
    const next = (this.read('counters').get(counter) ?? 0) + 1;
    this.change('counters').set(counter, next);
    return next as T;
  }

  /** What the tables are once this unit is committed. */
  result(): Tables {
    return { ...this.committed, ...Object.fromEntries(this.changed) };
  }

  /** Whoever kept the repositories beyond their unit finds them shut. */
  end(): void {
    this.hasEnded = true;
  }

  private refuseAfterEnd(): void {
    if (this.hasEnded) throw new Error('The unit of work has ended');
  }
}
