import type { ChannelPrivacy } from '@parley/domain/channels';
import { type DataFilter, firstOf, type MessageId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ChannelTopic, MessageCondition, MessageProperty, SimpleCondition } from '@parley/domain/messages';
import type { IndexedProperty } from './message-rows.js';
import { type IndexQuery, indexQuery, mentionTerm } from './message-terms.js';
import { hasPhrasesInside, isNothing, normalize } from './normalize-condition.js';

/** Messages of a channel, conversation or topic, listed by id in an index of `message`. */
export interface Series {
  readonly recipientId: RecipientId;
  /** Null for all topics or no topics. */
  readonly topicKey: string | null;
}

/** Conditions grouped by their use in queries. */
export interface Narrowing<List> {
  /** All conditions decidable from rows of `message`. */
  readonly restriction: Restriction<List>;
  /** Conditions not already implied by `series` or `topicKey`. */
  readonly withinSeries: Restriction<List>;
  /** Conditions not already implied by the search index. */
  readonly besidesSearch: Restriction<List>;
  /** Search terms of all conditions; null without a search. */
  readonly searched: { readonly query: IndexQuery } | null;
  /** Conditions on the viewer's read state and flags, which queries cannot decide. */
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
  /** Value that the application's data must have. */
  readonly data: DataFilter | null;
  /** Inclusive range of ids. */
  readonly ids: { readonly first: number; readonly last: number };
  /** Property with its own index. */
  readonly property: IndexedProperty | null;
}

/** Parameter of a condition: a value, or a list in the storage's format. */
export type ConditionParameter<List> = string | number | null | List;

/** SQL of a condition with a `?` for each parameter. */
export type ConditionSql<List> = readonly [sql: string, ...parameters: ConditionParameter<List>[]];

/** Part of a WHERE clause over `message m`; each term starts with AND. */
export interface Restriction<List> {
  readonly sql: string;
  readonly parameters: readonly ConditionParameter<List>[];
}

/** Spells conditions over `message m` in a storage's SQL. */
export interface ConditionWriter<List> {
  /** True if the column has one of the values, or none if negated. */
  inList(column: ListedColumn, values: readonly (string | number)[], negated: boolean): ConditionSql<List>;
  inTopics(topics: readonly ChannelTopic[]): ConditionSql<List>;
  hasPrivacy(privacies: readonly ChannelPrivacy[]): ConditionSql<List>;
  property(property: IndexedProperty): string;
  /** True if the message matches the index query and contains all phrases. */
  search(query: IndexQuery, phrases: readonly string[]): ConditionSql<List>;
  /** Null if the storage cannot search for phrases; they are then among the personal conditions. */
  readonly phrases: ((phrases: readonly string[]) => ConditionSql<List>) | null;
  /** SQL literal for false, which replaces null in conditions. */
  readonly no: string;
}

export type ListedColumn = 'recipient_id' | 'topic_key' | 'sender_id' | 'id';

/** Plans narrows in a storage's SQL. */
export interface NarrowPlanner<List> {
  /** Combines conditions that must all apply. Returns null if no message can match. */
  toNarrowing(conditions: readonly MessageCondition[]): Narrowing<List> | null;
  narrowingTo(recipientId: RecipientId, topicKey?: string | null): Narrowing<List>;
  /** Adds a property with an index. */
  narrowedTo(narrowing: Narrowing<List>, property: IndexedProperty): Narrowing<List>;
  /** Adds an inclusive range of ids. */
  between(narrowing: Narrowing<List>, first: number, last: number): Narrowing<List>;
  /** Returns the series if the conditions describe exactly one conversation or topic. */
  wholeSeriesOf(conditions: readonly MessageCondition[]): Series | null;
  readonly EVERYTHING: Narrowing<List>;
}

export function newNarrowPlanner<List>(writer: ConditionWriter<List>): NarrowPlanner<List> {
  const toNarrowing = (conditions: readonly MessageCondition[]): Narrowing<List> | null => {
    const terms = new Terms<List>(writer);
    return conditions.every((condition) => terms.add(normalize(condition, false))) ? terms.toNarrowing() : null;
  };
  return {
    toNarrowing,
    narrowingTo: (recipientId, topicKey = null) =>
      toNarrowing([
        { kind: 'recipient', recipientIds: [recipientId] },
        ...(topicKey === null ? [] : [{ kind: 'topic', topicKey } as const]),
      ])!,
    narrowedTo: (narrowing, property) => ({ ...also(narrowing, and(writer.property(property))), property }),
    between: (narrowing, first, last) => also(narrowing, and<List>('m.id BETWEEN ? AND ?', first, last)),
    wholeSeriesOf: (conditions) => {
      const plain = plainSeries(conditions);
      if (plain) return plain;
      const narrowing = toNarrowing(conditions);
      if (!narrowing) return null;
      const { series, withinSeries, personal } = narrowing;
      return series?.length === 1 && withinSeries.sql === '' && personal.length === 0 ? firstOf(series) : null;
    },
    EVERYTHING: toNarrowing([])!,
  };
}

const also = <List>(narrowing: Narrowing<List>, term: Restriction<List>): Narrowing<List> => ({
  ...narrowing,
  restriction: joined([narrowing.restriction, term]),
  withinSeries: joined([narrowing.withinSeries, term]),
  besidesSearch: joined([narrowing.besidesSearch, term]),
});

const and = <List>(sql: string, ...parameters: ConditionParameter<List>[]): Restriction<List> => ({
  sql: `AND ${sql}`,
  parameters,
});

const joined = <List>(terms: readonly Restriction<List>[]): Restriction<List> => ({
  sql: terms.map(({ sql }) => sql).join(' '),
  parameters: terms.flatMap(({ parameters }) => parameters),
});

/** Terms that restrict a query to a series. */
export const seriesTerms = ({ recipientId, topicKey }: Series): Restriction<never> =>
  topicKey === null
    ? { sql: 'AND m.recipient_id = ?', parameters: [recipientId] }
    : { sql: 'AND m.recipient_id = ? AND m.topic_key = ?', parameters: [recipientId, topicKey] };

/** Returns the only possible recipient; null if there are several. */
export const onlyRecipient = ({ series }: Pick<Narrowing<unknown>, 'series'>): RecipientId | null =>
  series !== null && new Set(series.map((each) => each.recipientId)).size === 1 ? firstOf(series).recipientId : null;

/** Recognizes the usual conditions for marking as read, without the slower normalization. */
function plainSeries(conditions: readonly MessageCondition[]): Series | null {
  const [first, topic] = conditions;
  if (first?.kind !== 'recipient' || first.recipientIds.length !== 1 || conditions.length > 2) return null;
  const recipientId = firstOf(first.recipientIds);
  if (topic === undefined) return { recipientId, topicKey: null };
  return topic.kind === 'topic' ? { recipientId, topicKey: topic.topicKey } : null;
}

/** Collects conditions that must all apply, grouped by kind to keep the number of distinct statements low. */
class Terms<List> {
  private recipientIds: readonly RecipientId[] | null = null;
  private topics: readonly ChannelTopic[] | null = null;
  private privacies: readonly ChannelPrivacy[] | null = null;
  private topicKey: string | null = null;
  private senderId: UserId | null = null;
  private messageId: MessageId | null = null;
  private readonly ids = { first: 0, last: Number.MAX_SAFE_INTEGER };
  private isDirect: boolean | null = null;
  /** Keyed by text. */
  private readonly data = new Map<string, Extract<SimpleCondition, { readonly kind: 'data' }>>();
  private readonly properties = new Set<MessageProperty>();
  /** Keyed by text. */
  private readonly searched = new Map<string, IndexQuery[number]>();
  private readonly phrases = new Set<string>();
  private readonly not = {
    recipientIds: new Set<RecipientId>(),
    topics: new Map<string, ChannelTopic>(),
    privacies: new Set<ChannelPrivacy>(),
    topicKeys: new Set<string>(),
    senderIds: new Set<UserId>(),
    messageIds: new Set<MessageId>(),
    properties: new Set<MessageProperty>(),
    data: new Map<string, SimpleCondition>(),
    found: new Map<string, SimpleCondition>(),
  };
  /** Keyed by text and parameters. */
  private readonly alternatives = new Map<string, Extract<MessageCondition, { readonly kind: 'anyOf' | 'allOf' }>>();
  private readonly personal: MessageCondition[] = [];

  constructor(private readonly writer: ConditionWriter<List>) {}

  /** Adds a normalized condition. Returns false if it contradicts the others. */
  add(condition: MessageCondition): boolean {
    if (isNothing(condition)) return false;
    if (condition.kind === 'allOf') return condition.conditions.every((each) => this.add(each));
    if (isPersonal(condition) || (this.writer.phrases === null && hasPhrasesInside(condition))) {
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
      case 'fromMessage':
        this.ids.first = Math.max(this.ids.first, condition.messageId);
        return this.ids.first <= this.ids.last;
      case 'direct':
        return this.setDirect(true);
      case 'property':
        this.properties.add(condition.property);
        return true;
      case 'search':
        this.search(indexQuery(condition.words));
        if (this.writer.phrases !== null) for (const phrase of condition.phrases) this.phrases.add(phrase);
        else if (condition.phrases.length > 0) this.personal.push({ ...condition, words: [] });
        return true;
      case 'mentions':
        this.search([[mentionTerm(condition.userId)]]);
        return true;
      case 'data':
        this.data.set(JSON.stringify(condition), condition);
        return true;
      case 'flag':
        throw new Error('Flags require a viewer');
    }
  }

  private search(query: IndexQuery): void {
    for (const alternatives of query) this.searched.set(JSON.stringify(alternatives), alternatives);
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
      case 'fromMessage':
        this.ids.last = Math.min(this.ids.last, condition.messageId - 1);
        return this.ids.first <= this.ids.last;
      case 'direct':
        return this.setDirect(false);
      case 'property':
        this.not.properties.add(condition.property);
        return true;
      case 'search':
      case 'mentions':
        this.not.found.set(JSON.stringify(condition), condition);
        return true;
      case 'data':
        this.not.data.set(JSON.stringify(condition), condition);
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

  toNarrowing(): Narrowing<List> {
    const { topicKey, senderId, messageId, ids, isDirect, privacies, personal } = this;
    const named = this.namedSeries();
    const series = named ?? this.seriesOfAlternatives();
    const terms = this.terms();
    // Individually listed recipients and topics already fulfil their conditions.
    const fulfilled = named === null ? ['topic'] : ['topic', 'recipient', 'channelTopic'];
    return {
      restriction: joined(terms.map(([, text]) => text)),
      withinSeries: joined(terms.flatMap(([what, text]) => (fulfilled.includes(what) ? [] : [text]))),
      besidesSearch: joined([
        ...terms.flatMap(([what, text]) => (what === 'searched' ? [] : [text])),
        ...(this.phrases.size === 0 ? [] : [and(...this.writer.phrases!([...this.phrases]))]),
      ]),
      searched: this.searched.size === 0 ? null : { query: [...this.searched.values()] },
      personal,
      series:
        series && withTopic(series, topicKey).filter(({ recipientId }) => !this.not.recipientIds.has(recipientId)),
      onlyTopics: this.onlyTopics(),
      isDirect,
      privacies,
      topicKey,
      senderId,
      messageId,
      data: [...this.data.values()][0] ?? null,
      ids,
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
  private terms(): (readonly [kind: string, Restriction<List>])[] {
    const { not, writer, ids } = this;
    const plain: SimpleCondition[] = [
      ...(this.recipientIds ? [{ kind: 'recipient' as const, recipientIds: this.recipientIds }] : []),
      ...(this.topics ? [{ kind: 'channelTopic' as const, topics: this.topics }] : []),
      ...(this.privacies ? [{ kind: 'channelPrivacy' as const, privacies: this.privacies }] : []),
      ...(this.topicKey !== null ? [{ kind: 'topic' as const, topicKey: this.topicKey }] : []),
      ...(this.senderId !== null ? [{ kind: 'sender' as const, userId: this.senderId }] : []),
      ...(this.messageId !== null ? [{ kind: 'message' as const, messageId: this.messageId }] : []),
      ...(this.isDirect === true ? [{ kind: 'direct' as const }] : []),
      ...[...this.properties].sort().map((property) => ({ kind: 'property' as const, property })),
      ...this.data.values(),
    ];
    const negated: SimpleCondition[] = [
      ...(not.recipientIds.size > 0 ? [{ kind: 'recipient' as const, recipientIds: [...not.recipientIds] }] : []),
      ...(not.topics.size > 0 ? [{ kind: 'channelTopic' as const, topics: [...not.topics.values()] }] : []),
      ...(not.privacies.size > 0 ? [{ kind: 'channelPrivacy' as const, privacies: [...not.privacies] }] : []),
      ...(this.isDirect === false ? [{ kind: 'direct' as const }] : []),
      ...[...not.properties].sort().map((property) => ({ kind: 'property' as const, property })),
      ...not.data.values(),
    ];
    const outside = (
      column: ListedColumn,
      values: ReadonlySet<number | string>,
    ): (readonly [string, Restriction<List>])[] => {
      if (values.size === 0) return [];
      const [sql, ...parameters] = writer.inList(column, [...values], true);
      return [['not', and(column === 'topic_key' ? `(m.topic_key IS NULL OR ${sql})` : sql, ...parameters)]];
    };
    return [
      ...plain.map((each) => [each.kind, and(...conditionSql(writer, each, false))] as const),
      ...negated.map((each) => [`not ${each.kind}`, and(...conditionSql(writer, each, true))] as const),
      ...(ids.first > 0 ? [['from', and<List>('m.id >= ?', ids.first)] as const] : []),
      ...(ids.last < Number.MAX_SAFE_INTEGER ? [['until', and<List>('m.id <= ?', ids.last)] as const] : []),
      ...outside('topic_key', not.topicKeys),
      ...outside('sender_id', not.senderIds),
      ...outside('id', not.messageIds),
      ...[...this.alternatives.values()]
        .map((each) => ['alternatives', and(...this.combined(each))] as const)
        .sort(([, a], [, b]) => (a.sql < b.sql ? -1 : 1)),
      ...[...not.found.values()].map((each) => ['not found', and(...conditionSql(writer, each, true))] as const),
      // Last, because all other conditions can be decided from the index row.
      ...(this.searched.size === 0
        ? []
        : [['searched', and(...writer.search([...this.searched.values()], [...this.phrases]))] as const]),
    ];
  }

  /** Returns the SQL of a normalized condition. */
  private combined(condition: MessageCondition): ConditionSql<List> {
    const { writer } = this;
    switch (condition.kind) {
      case 'not':
        return conditionSql(writer, condition.condition as SimpleCondition, true);
      case 'anyOf':
      case 'allOf': {
        const parts = condition.conditions.map((each) => this.combined(each));
        const text = parts.map(([sql]) => `coalesce(${sql}, ${writer.no})`);
        return [
          `(${text.join(condition.kind === 'anyOf' ? ' OR ' : ' AND ')})`,
          ...parts.flatMap(([, ...parameters]) => parameters),
        ];
      }
      default:
        return conditionSql(writer, condition, false);
    }
  }
}

/** Returns the SQL of a condition over `message m`, which never yields null. */
function conditionSql<List>(
  writer: ConditionWriter<List>,
  condition: SimpleCondition,
  negated: boolean,
): ConditionSql<List> {
  const signedSql = ([sql, ...parameters]: ConditionSql<List>): ConditionSql<List> => [
    negated ? `NOT ${sql}` : sql,
    ...parameters,
  ];
  switch (condition.kind) {
    case 'recipient': {
      const [first, ...more] = condition.recipientIds;
      if (more.length === 0) return [`m.recipient_id ${negated ? '<>' : '='} ?`, first!];
      return writer.inList('recipient_id', condition.recipientIds, negated);
    }
    case 'channelTopic': {
      const [isIn, ...lists] = writer.inTopics(condition.topics);
      return [negated ? `(m.topic_key IS NULL OR NOT ${isIn})` : `(m.topic_key IS NOT NULL AND ${isIn})`, ...lists];
    }
    case 'channelPrivacy':
      return signedSql(writer.hasPrivacy(condition.privacies));
    case 'topic':
      return [negated ? '(m.topic_key IS NULL OR m.topic_key <> ?)' : 'm.topic_key = ?', condition.topicKey];
    case 'sender':
      return [`m.sender_id ${negated ? '<>' : '='} ?`, condition.userId];
    case 'message':
      return [`m.id ${negated ? '<>' : '='} ?`, condition.messageId];
    case 'fromMessage':
      return [`m.id ${negated ? '<' : '>='} ?`, condition.messageId];
    case 'direct':
      return [`m.channel_id IS ${negated ? 'NOT NULL' : 'NULL'}`];
    case 'property': {
      const sql = writer.property(condition.property);
      return [negated ? `NOT coalesce(${sql}, ${writer.no})` : sql];
    }
    case 'search':
      return signedSql(writer.search(indexQuery(condition.words), condition.phrases));
    case 'mentions':
      return signedSql(writer.search([[mentionTerm(condition.userId)]], []));
    case 'data':
      return signedSql([
        'EXISTS (SELECT 1 FROM data_value v WHERE v.key_id = ? AND v.value = ? AND v.object_id = m.id)',
        condition.key.id,
        condition.value,
      ]);
    case 'flag':
      throw new Error('Flags require a viewer');
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
