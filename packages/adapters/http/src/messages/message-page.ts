import type { Actor } from '@parley/domain/access';
import { type Caller, getOrThrow, type MessageId, type RealmUrls } from '@parley/domain/kernel';
import type {
  GetMessagesInput,
  Highlight,
  MatchNarrow,
  MatchNarrowInput,
  MessageList,
  MessageListEntry,
  MessageText,
  MessageView,
  PresentMessages,
} from '@parley/domain/messages';
import type { EmailVisibility, Realm } from '@parley/domain/realms';
import { seesEmailOf } from '@parley/domain/users';
import type { MessagePart } from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import type { YieldingScheduler } from '../limits/yielding.js';
import { PresentedTexts, TextChunks } from '../wire/caches.js';
import { WireText } from '../wire/reply.js';
import { CLIENT_VARIANTS } from '../wire/request.js';
import {
  differsByViewer,
  flagsText,
  highlightText,
  type MessageForm,
  messageText,
  presentMessagePage,
} from './message.presenters.js';

/** Maximum length of a response part in characters, excluding its last message. */
const MAX_PART = 2 * 1024 * 1024;
/** Batch sizes, reduced after long messages, because some messages are a thousand times longer than usual. */
const FIRST_STEP = 20;
const MAX_STEP = 80;

/**
 * Maximum text searched for highlights per part, in characters, excluding its last message. Bounds the time that a
 * part blocks the event loop.
 */
export const MAX_MARKED = 60_000;

/** Total length of all texts, in characters. */
const DEFAULT_ROOM = 32 * 1024 * 1024;

const MARKDOWN = 1;
const GRAVATAR = 2;
const EMPTY_TOPIC = 4;
const INACCESSIBLE_SENDER = 8;
const SEES_EMAIL = 16;
const EXTERNAL_ID = 32;
/** Factor of the client variant in the form bits. */
const CLIENT_PLACE = 64;
const CLIENT = 64 | 128;
const DATA = 256;

/** Data that determines a message's texts in addition to the form. */
interface MessageVersion {
  readonly versions: MessageListEntry['versions'];
  /** Replaced by another object after a change or a database restore, which may repeat versions. */
  readonly realm: Realm;
  readonly realmUrl: string;
  /** Form bits that affect this message; usually only the first. */
  readonly sensitivity: number;
  readonly emailVisibility: EmailVisibility;
}

/** Message sources of a page, all from one snapshot. */
export interface MessageSources {
  readonly hydrate: (ids: readonly MessageId[]) => Promise<readonly MessageView[]>;
  readonly listTexts: (ids: readonly MessageId[]) => Promise<readonly MessageText[]>;
}

/** Comma-separated JSON texts of messages. */
export interface PagePart {
  readonly chunks: readonly string[];
  /** Number of messages in the part, from the start of the list. */
  readonly count: number;
  /** Initial batch size of the next part, estimated from this one. */
  readonly nextStep: number;
}

const stepFor = (room: number, average: number): number =>
  average > 0 ? Math.min(MAX_STEP, Math.ceil(room / average)) : FIRST_STEP;

export type PageForm = Omit<MessageForm, 'hidesSender' | 'seesSenderEmail' | 'editHistory'>;

/**
 * Presents message pages as JSON text. Cached texts contain nothing specific to a viewer; flags are inserted per
 * viewer. A cached page only needs string concatenation.
 */
export class MessagePagePresenter {
  /** All fields except the flags, without the closing brace. */
  private readonly texts: PresentedTexts<MessageId, MessageVersion>;

  constructor(
    private readonly realmUrls: RealmUrls,
    maxTexts: number = DEFAULT_ROOM,
    /** Replaces the setting of the organization. */
    private readonly editHistory?: Realm['settings']['messageEditHistoryVisibilityPolicy'],
  ) {
    this.texts = new PresentedTexts<MessageId, MessageVersion>(maxTexts, isSame);
  }

  /**
   * Returns JSON array elements in list order, enough for one part of a response. Must be called within the snapshot of
   * the list.
   */
  async present(
    {
      viewer,
      entries,
      realm,
      hiddenUserIds,
      highlight,
    }: Pick<MessageList, 'viewer' | 'entries' | 'realm' | 'hiddenUserIds' | 'highlight'>,
    { hydrate, listTexts }: MessageSources,
    form: PageForm,
    firstStep = FIRST_STEP,
  ): Promise<PagePart> {
    const publicRealm = publicRealmOf(realm, this.realmUrls);
    const editHistory = this.editHistory ?? realm.settings.messageEditHistoryVisibilityPolicy;
    const bits =
      (form.asHtml ? MARKDOWN : 0) |
      (form.clientGravatar ? GRAVATAR : 0) |
      (form.allowEmptyTopicName ? EMPTY_TOPIC : 0) |
      (form.withExternalIds ? EXTERNAL_ID : 0) |
      (form.withData ? DATA : 0) |
      (CLIENT_PLACE * CLIENT_VARIANTS.indexOf(form.client.key));
    const bitsOf = ({ senderId }: MessageListEntry) =>
      hiddenUserIds.size > 0 && hiddenUserIds.has(senderId) ? bits | INACCESSIBLE_SENDER : bits;

    const makeText = (entry: MessageListEntry, view: MessageView) =>
      this.makeText(entry, view, {
        publicRealm,
        realm,
        viewer,
        form: { ...form, editHistory },
        formBits: bitsOf(entry),
      });

    const page = new TextChunks();
    let count = 0;
    let step = firstStep;
    // Length of text searched for highlights so far.
    let marked = 0;
    const isFull = () => page.length >= MAX_PART || marked >= MAX_MARKED;
    while (count < entries.length && !isFull()) {
      const some = entries.slice(count, count + step);
      // Looked up once, because adding entries may evict these.
      const texts = some.map((entry) => this.find(entry, { realm, realmUrl: publicRealm.url }, viewer, bitsOf(entry)));
      const missing = some.filter((_, index) => texts[index] === undefined);
      const views = missing.length > 0 ? await hydrate(missing.map((entry) => entry.id)) : [];
      const viewOf = new Map(views.map((view) => [view.message.id, view]));
      const shown = highlight === null ? [] : some.filter((_, index) => texts[index] !== undefined);
      const listed = shown.length > 0 ? await listTexts(shown.map((entry) => entry.id)) : [];
      const textOf = new Map(listed.map((text) => [text.id, text]));
      for (let index = 0; index < some.length && !isFull(); index++, count++) {
        const entry = some[index]!;
        if (count > 0) page.add(',');
        page.add(texts[index] ?? makeText(entry, getOrThrow(viewOf, entry.id)));
        page.add(flagsText(entry.flags));
        if (highlight === null) page.add('}');
        else {
          const message = textOf.get(entry.id) ?? getOrThrow(viewOf, entry.id).message;
          marked += message.renderedContent.length;
          page.add(`,${highlightText(highlight(message))}}`);
        }
      }
      step = stepFor(MAX_PART - page.length, page.length / count);
    }
    return { chunks: page.finish(), count, nextStep: stepFor(MAX_PART, page.length / count) };
  }

  private find(
    { id, senderId, versions }: MessageListEntry,
    realm: Pick<MessageVersion, 'realm' | 'realmUrl'>,
    viewer: Actor,
    bits: number,
  ): string | undefined {
    const existing = this.texts.get(id);
    if (!existing || !isSame(existing.version, { versions, ...realm })) return undefined;
    const { sensitivity, emailVisibility } = existing.version;
    const seesEmail = (sensitivity & SEES_EMAIL) !== 0 && seesEmailOf(viewer, { id: senderId, emailVisibility });
    return existing.forms.get((seesEmail ? bits | SEES_EMAIL : bits) & sensitivity);
  }

  private makeText(
    entry: MessageListEntry,
    view: MessageView,
    { publicRealm, realm, viewer, form, formBits }: TextMaking,
  ): string {
    const seesSenderEmail = seesEmailOf(viewer, view.sender);
    const bits = seesSenderEmail ? formBits | SEES_EMAIL : formBits;
    const whole = messageText(view, publicRealm, {
      ...form,
      seesSenderEmail,
      hidesSender: (bits & INACCESSIBLE_SENDER) !== 0,
    });
    const text = `${whole.slice(0, -1)},"flags":`;
    const sensitivity = sensitivityOf(view, form.parts);
    const { emailVisibility } = view.sender;
    const version = { versions: entry.versions, realm, realmUrl: publicRealm.url, sensitivity, emailVisibility };
    this.texts.put(entry.id, version, bits & sensitivity, text);
    return text;
  }
}

interface TextMaking {
  readonly publicRealm: PublicRealm;
  readonly realm: Realm;
  readonly viewer: Actor;
  readonly form: Omit<MessageForm, 'hidesSender' | 'seesSenderEmail'>;
  readonly formBits: number;
}

function sensitivityOf(view: MessageView, parts: MessagePart): number {
  const { message, sender, conversation } = view;
  const hasEmptyTopic =
    (conversation.kind === 'channel' && message.topic === '') || (parts.differsByTopicName?.(view) ?? false);
  // Clients compute gravatars from public addresses. Viewers who may see other addresses get a hash.
  const avatar = sender.avatar.source !== 'gravatar' ? 0 : differsByViewer(sender) ? SEES_EMAIL : GRAVATAR;
  const client = parts.differsByClient?.(view) ? CLIENT : 0;
  const externalId = sender.externalId === undefined ? 0 : EXTERNAL_ID;
  const data = view.hostData ? DATA : 0;
  return externalId | data | MARKDOWN | INACCESSIBLE_SENDER | avatar | (hasEmptyTopic ? EMPTY_TOPIC : 0) | client;
}

type VersionKey = Pick<MessageVersion, 'versions' | 'realm' | 'realmUrl'>;

const isSame = (a: VersionKey, b: VersionKey): boolean =>
  a.versions.message === b.versions.message &&
  a.versions.sender === b.versions.sender &&
  a.versions.conversation === b.versions.conversation &&
  a.realm === b.realm &&
  a.realmUrl === b.realmUrl;

/** Maximum number of message ids per read when a page continues. */
const CONTINUED_IDS = 500;

interface PageReader<C> {
  readonly useCase: { execute: <T>(caller: C, input: GetMessagesInput, present: PresentMessages<T>) => Promise<T> };
  readonly caller: C;
  /** Narrow that later parts must repeat as an access check; absent if none. */
  readonly always?: GetMessagesInput['narrow'];
  readonly page: MessagePagePresenter;
  readonly form: PageForm;
  /** Scheduler shared by all continued pages. */
  readonly scheduler: YieldingScheduler;
}

/**
 * Returns the fields of messages §5.3. One read determines the messages of the page. Later parts are read in their
 * current state as the client consumes them; deleted or hidden messages are omitted.
 */
export async function readMessagePage<C>(reader: PageReader<C>, input: GetMessagesInput): Promise<WireText> {
  const { list, chunks, remaining, nextStep } = await readPart(reader, input);
  const start = [`${presentMessagePage(list)}[`, ...chunks];
  if (remaining.length === 0) return new WireText([...start, ']']);
  return new WireText(start, continuePage(reader, remaining, nextStep, chunks.length > 0, list.highlight));
}

async function* continuePage<C>(
  reader: PageReader<C>,
  remaining: readonly MessageId[],
  firstStep: number,
  hasBegun: boolean,
  highlight: MessageList['highlight'],
): AsyncGenerator<readonly string[]> {
  const open = [remaining];
  let isFirst = !hasBegun;
  let step = firstStep;
  for (let ids = open.shift(); ids; ids = open.shift()) {
    // The page is already determined, so the narrow is not needed.
    const input = { narrow: reader.always ?? [], select: { ids: ids.slice(0, CONTINUED_IDS) } };
    const part = await reader.scheduler.run(() => readPart(reader, input, step, highlight));
    step = part.nextStep;
    if (part.chunks.length > 0) {
      yield isFirst ? part.chunks : [',', ...part.chunks];
      isFirst = false;
    }
    if (ids.length > CONTINUED_IDS) open.unshift(ids.slice(CONTINUED_IDS));
    if (part.remaining.length > 0) open.unshift(part.remaining);
  }
  yield [']'];
}

function readPart<C>(
  { useCase, caller, page, form }: PageReader<C>,
  input: GetMessagesInput,
  firstStep?: number,
  highlight?: MessageList['highlight'],
): Promise<{
  readonly list: MessageList;
  readonly chunks: readonly string[];
  /** Messages still to be read. */
  readonly remaining: readonly MessageId[];
  readonly nextStep: number;
}> {
  return useCase.execute(caller, input, async (list, hydrate, listTexts) => {
    const { chunks, count, nextStep } = await page.present(
      highlight ? { ...list, highlight } : list,
      { hydrate, listTexts },
      form,
      firstStep,
    );
    return { list, chunks, remaining: list.entries.slice(count).map((entry) => entry.id), nextStep };
  });
}

/** Maximum number of messages fetched at once. */
const STEP = 20;
interface MatchReader {
  readonly useCase: MatchNarrow;
  readonly caller: Caller;
  /** Scheduler shared by all continued responses. */
  readonly scheduler: YieldingScheduler;
}

/** Returns `messages` of messages §8. One read determines the matches; long responses are streamed. */
export async function readNarrowMatches(reader: MatchReader, input: MatchNarrowInput): Promise<WireText> {
  const { text, remaining, highlight } = await readMatches(reader, input);
  if (remaining.length === 0) return new WireText(`"messages":{${text}}`);
  return new WireText(`"messages":{${text}`, continueMatches(reader, remaining, text !== '', highlight));
}

async function* continueMatches(
  reader: MatchReader,
  remaining: readonly MessageId[],
  hasBegun: boolean,
  highlight: Highlight,
): AsyncGenerator<readonly string[]> {
  let isFirst = !hasBegun;
  for (let ids = remaining; ids.length > 0; ) {
    // The match is settled, so the narrow is not needed.
    const part = await reader.scheduler.run(() => readMatches(reader, { ids, narrow: [] }, highlight));
    if (part.text !== '') yield isFirst ? [part.text] : [',', part.text];
    isFirst &&= part.text === '';
    ids = part.remaining;
  }
  yield ['}'];
}

function readMatches(
  { useCase, caller }: MatchReader,
  input: MatchNarrowInput,
  highlight?: Highlight,
): Promise<{ readonly text: string; readonly remaining: readonly MessageId[]; readonly highlight: Highlight }> {
  return useCase.execute(caller, input, async (matches, listTexts) => {
    const mark = highlight ?? matches.highlight;
    const texts: string[] = [];
    let marked = 0;
    let count = 0;
    while (count < matches.ids.length && marked < MAX_MARKED) {
      for (const message of await listTexts(matches.ids.slice(count, count + STEP))) {
        if (marked >= MAX_MARKED) break;
        texts.push(`"${message.id}":{${highlightText(mark(message))}}`);
        marked += message.renderedContent.length;
        count++;
      }
    }
    return { text: texts.join(','), remaining: matches.ids.slice(count), highlight: mark };
  });
}
