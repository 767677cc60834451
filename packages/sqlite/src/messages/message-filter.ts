import type { ChannelPrivacy } from '@parley/domain/channels';
import type { MessageId, RecipientId, UserId } from '@parley/domain/kernel';
import {
  type ChannelTopic,
  EVERY_MESSAGE,
  type MessageCondition,
  type MessageProperty,
  NO_MESSAGE,
  type SimpleCondition,
} from '@parley/domain/messages';
import {
  and,
  combinedSql,
  joined,
  LISTED,
  mentionTerm,
  phrasesSql,
  propertySql,
  type Restriction,
  searchSql,
  toSql,
  wordTerm,
} from './conditions.js';
import { type IndexedProperty, PROPERTY_INDEXES } from './message-rows.js';

/** Messages of a channel, conversation or topic, which an index of `message` lists by id. */
export interface Series {
  readonly recipientId: RecipientId;
  /** Null for all topics or no topics. */
  readonly topicKey: string | null;
}

/** Conditions grouped by how queries can use them. */
export interface Narrowing {
  /** All conditions that rows of `message` can decide. */
  readonly restriction: Restriction;
  /** Conditions not already implied by `series` or `topicKey`. */
  readonly withinSeries: Restriction;
  /** Conditions not already implied by the search index. */
  readonly besidesSearch: Restriction;
  /** Search terms of all conditions; null without a search. */
  readonly searched: { readonly terms: readonly string[] } | null;
  /** Conditions on the viewer's read state and flags. */
  readonly personal: readonly MessageCondition[];
  /** Series that contain the messages; null for no restriction. */
  readonly series: readonly Series[] | null;
  /** Recipients restricted to the topics with these keys; an empty list excludes the recipient. */
  readonly onlyTopics: ReadonlyMap<RecipientId, readonly string[]>;
  /** Null for direct and channel messages of any privacy. */
  readonly isDirect: boolean | null;
  readonly privacies: readonly ChannelPrivacy[] | null;
  readonly topicKey: string | null;
  readonly senderId: UserId | null;
  readonly messageId: MessageId | null;
  /** Property with its own index. */
  readonly property: IndexedProperty | null;
}

/** Returns the index of `message` that finds the smallest part of a series in id order. */
export function indexFor(
  { senderId, property }: Pick<Narrowing, 'senderId' | 'property'>,
  topicKey: string | null,
): string {
  if (topicKey !== null) return 'message_by_topic';
  if (property !== null) return PROPERTY_INDEXES[property];
  return senderId !== null ? 'message_by_sender' : 'message_by_recipient';
}

/** Terms required by `indexFor` alone, to find the next candidate message. */
export function indexTerms({ senderId, property }: Pick<Narrowing, 'senderId' | 'property'>): Restriction {
  const sql = [
    ...(property === null ? [] : [`AND ${propertySql(property)}`]),
    ...(senderId === null ? [] : ['AND m.sender_id = ?']),
  ];
  return { sql: sql.join(' '), parameters: senderId === null ? [] : [senderId] };
}

/** Adds a property that has its own index. */
export const narrowedTo = (narrowing: Narrowing, property: IndexedProperty): Narrowing => ({
  ...also(narrowing, and(propertySql(property))),
  property,
});

/** Adds an inclusive range of ids. */
export const between = (narrowing: Narrowing, first: number, last: number): Narrowing =>
  also(narrowing, and('m.id BETWEEN ? AND ?', first, last));

const also = (narrowing: Narrowing, term: Restriction): Narrowing => ({
  ...narrowing,
  restriction: joined([narrowing.restriction, term]),
  withinSeries: joined([narrowing.withinSeries, term]),
  besidesSearch: joined([narrowing.besidesSearch, term]),
});

/** Terms that restrict a query to a series. */
export const seriesTerms = ({ recipientId, topicKey }: Series): Restriction =>
  topicKey === null
    ? { sql: 'AND m.recipient_id = ?', parameters: [recipientId] }
    : { sql: 'AND m.recipient_id = ? AND m.topic_key = ?', parameters: [recipientId, topicKey] };

/** Returns the series if the conditions describe exactly one conversation or topic. */
export function wholeSeriesOf(conditions: readonly MessageCondition[]): Series | null {
  const plain = plainSeries(conditions);
  if (plain) return plain;
  const narrowing = toNarrowing(conditions);
  if (!narrowing) return null;
  const { series, withinSeries, personal } = narrowing;
  return series?.length === 1 && withinSeries.sql === '' && personal.length === 0 ? series[0]! : null;
}

/** Detects the conditions that clients usually mark as read, without the slower normalization. */
function plainSeries(conditions: readonly MessageCondition[]): Series | null {
  const [first, topic] = conditions;
  if (first?.kind !== 'recipient' || first.recipientIds.length !== 1 || conditions.length > 2) return null;
  const recipientId = first.recipientIds[0]!;
  if (topic === undefined) return { recipientId, topicKey: null };
  return topic.kind === 'topic' ? { recipientId, topicKey: topic.topicKey } : null;
}

/** Returns the only possible recipient; null if there are several. */
export const onlyRecipient = ({ series }: Narrowing): RecipientId | null =>
  series !== null && new Set(series.map((each) => each.recipientId)).size === 1 ? series[0]!.recipientId : null;

export const narrowingTo = (recipientId: RecipientId, topicKey: string | null = null): Narrowing =>
  toNarrowing([
    { kind: 'recipient', recipientIds: [recipientId] },
    ...(topicKey === null ? [] : [{ kind: 'topic', topicKey } as const]),
  ])!;

/** Combines conditions that all apply. Returns null if no message can match. */
export function toNarrowing(conditions: readonly MessageCondition[]): Narrowing | null {
  const terms = new Terms();
  return conditions.every((condition) => terms.add(normalize(condition, false))) ? terms.toNarrowing() : null;
}

/**
 * Normalizes a condition: `not` only before simple conditions, and no trivial parts. `anyOf` and `allOf` have at
 * least two parts unless they are the whole condition.
 */
function normalize(condition: MessageCondition, negated: boolean): MessageCondition {
  switch (condition.kind) {
    case 'not':
      return normalize(condition.condition, !negated);
    case 'anyOf':
    case 'allOf': {
      const isAnyOf = (condition.kind === 'anyOf') !== negated;
      const kind = isAnyOf ? 'anyOf' : 'allOf';
      const parts = condition.conditions
        .map((each) => normalize(each, negated))
        .flatMap((each) => (each.kind === kind ? each.conditions : [each]));
      const decisive = isAnyOf ? isEverything : isNothing;
      if (parts.some(decisive)) return isAnyOf ? EVERY_MESSAGE : NO_MESSAGE;
      return parts.length === 1 ? parts[0]! : { kind, conditions: parts };
    }
    case 'recipient':
      return condition.recipientIds.length === 0 ? constant(negated) : signed(condition, negated);
    case 'channelTopic':
      return condition.topics.length === 0 ? constant(negated) : signed(condition, negated);
    case 'channelPrivacy':
      return condition.privacies.length === 0 ? constant(negated) : signed(condition, negated);
    default:
      return signed(condition, negated);
  }
}

const constant = (value: boolean): MessageCondition => (value ? EVERY_MESSAGE : NO_MESSAGE);
const signed = (condition: SimpleCondition, negated: boolean): MessageCondition =>
  negated ? { kind: 'not', condition } : condition;
const isEverything = (each: MessageCondition) => each.kind === 'allOf' && each.conditions.length === 0;
const isNothing = (each: MessageCondition) => each.kind === 'anyOf' && each.conditions.length === 0;

/** Collects conditions that all apply, grouped by kind to keep the number of different statements low. */
class Terms {
  private recipientIds: readonly RecipientId[] | null = null;
  private topics: readonly ChannelTopic[] | null = null;
  private privacies: readonly ChannelPrivacy[] | null = null;
  private topicKey: string | null = null;
  private senderId: UserId | null = null;
  private messageId: MessageId | null = null;
  private isDirect: boolean | null = null;
  private readonly properties = new Set<MessageProperty>();
  private readonly searchTerms = new Set<string>();
  private readonly phrases = new Set<string>();
  private readonly not = {
    recipientIds: new Set<RecipientId>(),
    topics: new Map<string, ChannelTopic>(),
    privacies: new Set<ChannelPrivacy>(),
    topicKeys: new Set<string>(),
    senderIds: new Set<UserId>(),
    messageIds: new Set<MessageId>(),
    properties: new Set<MessageProperty>(),
    found: new Map<string, SimpleCondition>(),
  };
  /** Keyed by text and parameters. */
  private readonly alternatives = new Map<string, Extract<MessageCondition, { readonly kind: 'anyOf' | 'allOf' }>>();
  private readonly personal: MessageCondition[] = [];

  /** Adds a normalized condition. Returns false if it contradicts the others. */
  add(condition: MessageCondition): boolean {
    if (isNothing(condition)) return false;
    if (condition.kind === 'allOf') return condition.conditions.every((each) => this.add(each));
    if (isPersonal(condition)) {
      this.personal.push(condition);
      return true;
    }
    if (condition.kind === 'anyOf') {
      this.alternatives.set(JSON.stringify(condition), condition);
      return true;
    }
    if (condition.kind === 'not') return this.addNegated(condition.condition as SimpleCondition);
    return this.addPlain(condition as SimpleCondition);
  }

  private addPlain(condition: SimpleCondition): boolean {
    switch (condition.kind) {
      case 'recipient':
        this.recipientIds = common(this.recipientIds, condition.recipientIds, String);
        return this.recipientIds.length > 0;
      case 'channelTopic':
        this.topics = common(this.topics, condition.topics, keyOf);
        return this.topics.length > 0;
      case 'channelPrivacy':
        this.privacies = common(this.privacies, condition.privacies, String);
        return this.privacies.length > 0;
      case 'topic': {
        const isOther = this.topicKey !== null && this.topicKey !== condition.topicKey;
        this.topicKey = condition.topicKey;
        return !isOther;
      }
      case 'sender': {
        const isOther = this.senderId !== null && this.senderId !== condition.userId;
        this.senderId = condition.userId;
        return !isOther;
      }
      case 'message': {
        const isOther = this.messageId !== null && this.messageId !== condition.messageId;
        this.messageId = condition.messageId;
        return !isOther;
      }
      case 'direct':
        return this.setDirect(true);
      case 'property':
        this.properties.add(condition.property);
        return true;
      case 'search':
        for (const term of condition.terms) this.searchTerms.add(wordTerm(term));
        for (const phrase of condition.phrases) this.phrases.add(phrase);
        return true;
      case 'mentions':
        this.searchTerms.add(mentionTerm(condition.userId));
        return true;
      case 'flag':
        throw new Error('Flags require a viewer');
    }
  }

  private addNegated(condition: SimpleCondition): boolean {
    switch (condition.kind) {
      case 'recipient':
        for (const id of condition.recipientIds) this.not.recipientIds.add(id);
        return true;
      case 'channelTopic':
        for (const topic of condition.topics) this.not.topics.set(keyOf(topic), topic);
        return true;
      case 'channelPrivacy':
        for (const privacy of condition.privacies) this.not.privacies.add(privacy);
        return true;
      case 'topic':
        this.not.topicKeys.add(condition.topicKey);
        return true;
      case 'sender':
        this.not.senderIds.add(condition.userId);
        return true;
      case 'message':
        this.not.messageIds.add(condition.messageId);
        return true;
      case 'direct':
        return this.setDirect(false);
      case 'property':
        this.not.properties.add(condition.property);
        return true;
      case 'search':
      case 'mentions':
        this.not.found.set(JSON.stringify(condition), condition);
        return true;
      case 'flag':
        throw new Error('Flags require a viewer');
    }
  }

  private setDirect(isDirect: boolean): boolean {
    const isOther = this.isDirect !== null && this.isDirect !== isDirect;
    this.isDirect = isDirect;
    return !isOther;
  }

  toNarrowing(): Narrowing {
    const { topicKey, senderId, messageId, isDirect, privacies, personal } = this;
    const named = this.namedSeries();
    const series = named ?? this.seriesOfAlternatives();
    const terms = this.terms();
    // If recipients and topics are listed one by one, their conditions are already fulfilled.
    const fulfilled = named === null ? ['topic'] : ['topic', 'recipient', 'channelTopic'];
    return {
      restriction: joined(terms.map(([, text]) => text)),
      withinSeries: joined(terms.flatMap(([what, text]) => (fulfilled.includes(what) ? [] : [text]))),
      besidesSearch: joined([
        ...terms.flatMap(([what, text]) => (what === 'searched' ? [] : [text])),
        ...(this.phrases.size === 0 ? [] : [and(...phrasesSql([...this.phrases]))]),
      ]),
      searched: this.searchTerms.size === 0 ? null : { terms: [...this.searchTerms] },
      personal,
      series:
        series && withTopic(series, topicKey).filter(({ recipientId }) => !this.not.recipientIds.has(recipientId)),
      onlyTopics: this.onlyTopics(),
      isDirect,
      privacies,
      topicKey,
      senderId,
      messageId,
      property: [...this.properties].sort()[0] ?? null,
    };
  }

  private namedSeries(): readonly Series[] | null {
    const { recipientIds, topics } = this;
    if (topics) return topics.filter((topic) => recipientIds?.includes(topic.recipientId) ?? true);
    return recipientIds?.map((recipientId) => ({ recipientId, topicKey: null })) ?? null;
  }

  private seriesOfAlternatives(): readonly Series[] | null {
    const all = [...this.alternatives.values()].flatMap((each) => {
      const found = seriesOf(each);
      return found ? [found] : [];
    });
    return all.sort((a, b) => a.length - b.length)[0] ?? null;
  }

  /** Excluded recipients, possibly except some of their topics. */
  private onlyTopics(): ReadonlyMap<RecipientId, readonly string[]> {
    const only = new Map<RecipientId, readonly string[]>();
    for (const { conditions } of this.alternatives.values()) {
      const excluded = conditions.flatMap((each) =>
        each.kind === 'not' && each.condition.kind === 'recipient' ? each.condition.recipientIds : [],
      );
      const others = conditions.filter((each) => each.kind !== 'not' || each.condition.kind !== 'recipient');
      const kept = excluded.length === 0 ? null : seriesOf({ kind: 'anyOf', conditions: others });
      for (const recipientId of kept === null ? [] : excluded) {
        const keys = kept!.filter((each) => each.recipientId === recipientId).map((each) => each.topicKey);
        if (!keys.includes(null)) only.set(recipientId, [...new Set(keys as string[])]);
      }
    }
    for (const recipientId of this.not.recipientIds) only.set(recipientId, []);
    return only;
  }

  /** Returns terms in a fixed order. */
  private terms(): (readonly [kind: string, Restriction])[] {
    const { not } = this;
    const plain: SimpleCondition[] = [
      ...(this.recipientIds ? [{ kind: 'recipient' as const, recipientIds: this.recipientIds }] : []),
      ...(this.topics ? [{ kind: 'channelTopic' as const, topics: this.topics }] : []),
      ...(this.privacies ? [{ kind: 'channelPrivacy' as const, privacies: this.privacies }] : []),
      ...(this.topicKey !== null ? [{ kind: 'topic' as const, topicKey: this.topicKey }] : []),
      ...(this.senderId !== null ? [{ kind: 'sender' as const, userId: this.senderId }] : []),
      ...(this.messageId !== null ? [{ kind: 'message' as const, messageId: this.messageId }] : []),
      ...(this.isDirect === true ? [{ kind: 'direct' as const }] : []),
      ...[...this.properties].sort().map((property) => ({ kind: 'property' as const, property })),
    ];
    const negated: SimpleCondition[] = [
      ...(not.recipientIds.size > 0 ? [{ kind: 'recipient' as const, recipientIds: [...not.recipientIds] }] : []),
      ...(not.topics.size > 0 ? [{ kind: 'channelTopic' as const, topics: [...not.topics.values()] }] : []),
      ...(not.privacies.size > 0 ? [{ kind: 'channelPrivacy' as const, privacies: [...not.privacies] }] : []),
      ...(this.isDirect === false ? [{ kind: 'direct' as const }] : []),
      ...[...not.properties].sort().map((property) => ({ kind: 'property' as const, property })),
    ];
    const outside = (sql: string, values: ReadonlySet<number | string>): (readonly [string, Restriction])[] =>
      values.size === 0 ? [] : [['not', and(sql, JSON.stringify([...values]))]];
    return [
      ...plain.map((each) => [each.kind, and(...toSql(each, false))] as const),
      ...negated.map((each) => [`not ${each.kind}`, and(...toSql(each, true))] as const),
      ...outside(`(m.topic_key IS NULL OR m.topic_key NOT IN ${LISTED})`, not.topicKeys),
      ...outside(`m.sender_id NOT IN ${LISTED}`, not.senderIds),
      ...outside(`m.id NOT IN ${LISTED}`, not.messageIds),
      ...[...this.alternatives.values()]
        .map((each) => ['alternatives', and(...combinedSql(each))] as const)
        .sort(([, a], [, b]) => (a.sql < b.sql ? -1 : 1)),
      ...[...not.found.values()].map((each) => ['not found', and(...toSql(each, true))] as const),
      // Last, because all other conditions can be decided from the index row.
      ...(this.searchTerms.size === 0
        ? []
        : [['searched', and(...searchSql([...this.searchTerms], [...this.phrases]))] as const]),
    ];
  }
}

/** Returns the series that contain matches of a normalized condition; null for no restriction. */
function seriesOf(condition: MessageCondition): readonly Series[] | null {
  switch (condition.kind) {
    case 'recipient':
      return condition.recipientIds.map((recipientId) => ({ recipientId, topicKey: null }));
    case 'channelTopic':
      return condition.topics;
    case 'anyOf': {
      const parts = condition.conditions.map(seriesOf);
      return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
    }
    case 'allOf':
      return condition.conditions.map(seriesOf).find((part) => part !== null) ?? null;
    default:
      return null;
  }
}

function withTopic(series: readonly Series[], topicKey: string | null): readonly Series[] {
  if (topicKey === null) return series;
  return series.flatMap((each) =>
    each.topicKey === null || each.topicKey === topicKey ? [{ recipientId: each.recipientId, topicKey }] : [],
  );
}

function isPersonal(condition: MessageCondition): boolean {
  switch (condition.kind) {
    case 'not':
      return isPersonal(condition.condition);
    case 'anyOf':
    case 'allOf':
      return condition.conditions.some(isPersonal);
    default:
      return condition.kind === 'flag';
  }
}

const keyOf = ({ recipientId, topicKey }: ChannelTopic): string => `${recipientId}:${topicKey}`;

/** Returns the intersection without duplicates, or the entire second list if the first is null. */
function common<T>(first: readonly T[] | null, second: readonly T[], key: (each: T) => string): readonly T[] {
  const known = first && new Set(first.map(key));
  return [...new Map(second.map((each) => [key(each), each])).values()].filter((each) => known?.has(key(each)) ?? true);
}

export const EVERYTHING: Narrowing = toNarrowing([])!;
