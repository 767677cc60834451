import { useLingui } from '@lingui/react';
import {
  type Chat,
  type ConversationView,
  type Destination,
  destinationKey,
  destinationOf,
  formatSearch,
  isSearch,
  linkedIn,
  type Narrow,
  narrowKey,
  narrowOf,
} from '@parley/chat';
import {
  type KeyboardEvent,
  lazy,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { MediaContext, mediaIn } from '../content/media.js';
import { ChannelName, DestinationName, isWord, onlyChannel } from '../editor/destination-heading.js';
import { RotateCcw } from '../icons/icons.js';
import { ErrorBoundary } from '../kit/error-boundary.js';
import { Loading } from '../kit/loading.js';
import { useChat, useComputed, usePlace, useServices } from '../services/context.js';
import { reportDone, reportFailure, useReason } from '../services/failures.js';
import { loadLater, useDrawn, useLoaded } from '../services/loading.js';
import type { ReadingPlace } from '../services/location.js';
import { useReading } from '../services/use-reading.js';
import type { ComposerHandle } from './composer.js';
import styles from './conversation-page.module.css';
import { unfold } from './folding.js';
import { pressOnMessage } from './message-actions.js';
import { MessageList } from './message-list.js';
import type { MessageCommands } from './message-menu.js';
import { loadSlots, MessageRow } from './message-row.js';

const Announcements = lazy(() => loadLater(() => import('./announcements.js')));
const loadPlaceholders = () => import('./placeholders.js');
const loadResults = () => import('./search-results.js');
const PlainText = lazy(async () => ({ default: (await loadPlaceholders()).PlainText }));
export const loadWriting = () => loadLater(() => import('./writing.js'));

/** Messages of a long conversation kept in memory while the end is visible. */
const KEPT_MESSAGES = 1000;

interface Props {
  readonly narrow: Narrow;
  readonly near: number | null;
}

/** Messages of a narrow with an input field below. */
export function ConversationPage({ narrow, near }: Props) {
  const chat = useChat();
  const { view, start } = useOpened(narrow, near) ?? { view: null, start: null };
  const { drafts, navigation, dataOf } = useServices();
  const composer = useRef<ComposerHandle>(null);
  const { i18n } = useLingui();
  const commands = useMemo<MessageCommands>(() => {
    const write = (to: Destination, text: string) => {
      const key = destinationKey(to);
      if (composer.current && destinationKey(composer.current.destination) === key) {
        composer.current.insert(text);
        return;
      }
      drafts.begin(to, text);
      const shown = view?.destination ?? null;
      if (shown && destinationKey(shown) === key) return;
      navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: null }));
    };
    return {
      write,
      quote: (message) => {
        const quote = async () => {
          const source = await chat.commands.source(message.id!);
          const { quoteOf } = await import('./message-menu.js');
          write(message.destination, quoteOf(chat, message, source, i18n));
        };
        quote().catch(reportFailure);
      },
      editFailed: (message) => {
        write(message.destination, message.markdown ?? '');
        chat.outbox.discard(message.key);
      },
      markUnread: (message) => {
        view?.markUnreadFrom(message.id!).then(() => reportDone(i18n._('Marked as unread')), reportFailure);
      },
    };
  }, [chat, i18n, view, drafts, navigation]);
  useFollowing(view, near, composer);
  const isReady = useReading(chat.isReady);
  const writing = useLoaded(loadWriting);
  const slots = useLoaded(loadSlots, !!dataOf);
  if (!view) return null;
  return (
    <>
      {slots && <slots.ChannelSlot narrow={view.narrow} />}
      <Messages view={view} near={start ? null : near} start={start} commands={commands} />
      {isReady && writing ? (
        <writing.Writing narrow={view.narrow} composer={composer} />
      ) : (
        (view.destination ?? onlyChannel(view.narrow)) !== null && <div className={styles.reserved} />
      )}
    </>
  );
}

interface Opened {
  readonly view: ConversationView;
  /** Last reading position; null for a first visit. */
  readonly start: ReadingPlace | null;
}

/** Keeps the messages of a narrow open while the component is mounted. */
export const useConversation = (narrow: Narrow, near: number | null): ConversationView | null =>
  useOpened(narrow, near)?.view ?? null;

function useOpened(narrow: Narrow, near: number | null): Opened | null {
  const { chat, navigation } = useServices();
  const [opened, setOpened] = useState<Opened | null>(null);
  const place = `${narrowKey(narrow)} ${near}`;
  // Runs before the first paint, so that messages are visible at once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: narrows are equal if their keys are.
  useLayoutEffect(() => {
    const start = navigation.kept();
    if (near !== null) unfold(near);
    const view = chat.open(narrow, start ? start.id : near);
    setOpened({ view, start });
    // A list that opens at another place stays open.
    return () => queueMicrotask(() => view.close());
  }, [chat, navigation, place]);
  return opened;
}

/** Follows a moved conversation together with the draft text, or a linked message to its current conversation. */
function useFollowing(
  view: ConversationView | null,
  near: number | null,
  composer: RefObject<ComposerHandle | null>,
): void {
  const { chat, drafts, navigation } = useServices();
  const movedTo = useComputed(() => view?.movedTo.value ?? null, [view]);
  const elsewhere = useComputed(() => view?.elsewhere.value ?? null, [view]);
  useEffect(() => {
    const to = movedTo ?? elsewhere;
    if (!view || !to) return;
    const isOfLink = movedTo === null && (near !== null || linkedIn(view.narrow) !== null);
    if (!isOfLink && composer.current) {
      const { hasFocus } = composer.current;
      const text = composer.current.take();
      if (hasFocus) drafts.begin(to, text);
      else drafts.add(to, text);
    }
    navigation.replace(chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: isOfLink ? near : null }));
  }, [view, near, movedTo, elsewhere, chat, drafts, navigation, composer]);
}

interface MessagesProps {
  readonly view: ConversationView;
  /** Message of the followed link. */
  readonly near?: number | null;
  readonly start?: ReadingPlace | null;
  readonly commands: MessageCommands;
}

export function Messages({ view, near = null, start = null, commands }: MessagesProps) {
  const { i18n } = useLingui();
  const { chat, baseUrl } = useServices();
  const keys = useReading(view.keys);
  const older = useReading(view.older);
  const newer = useReading(view.newer);
  const missing = useComputed(() => missingIn(chat, view.narrow), [chat, view]);
  const isFetching = older === 'loading' || newer === 'loading';
  useDrawn(keys.length > 0 || !isFetching);
  const isGone = useIsGone(near === null ? null : chat.keyOf(near), keys, isFetching);
  const failure = useReading(view.failure);
  const reason = useReason(failure);
  const isOffline = useComputed(() => chat.connection.value.state === 'offline', [chat]);
  const isEmpty = keys.length === 0;
  const isSearching = isSearch(view.narrow);
  const isLoading = older !== 'none' || newer !== 'none';
  const placeholders = useLoaded(loadPlaceholders, missing !== null || failure !== null || (isEmpty && !isLoading));
  const results = useLoaded(loadResults, isSearching);
  const media = useCallback(
    () => view.keys.peek().flatMap((key) => mediaIn(chat.message(key).peek()?.html ?? '', baseUrl)),
    [view, chat, baseUrl],
  );
  if (missing === 'channel' || (isEmpty && (missing || failure?.code === 'BAD_NARROW')))
    return placeholders && <placeholders.Missing part={missing} narrow={view.narrow} />;
  if (failure && isEmpty) return <Failed text={reason} onRetry={() => view.goTo('newest')} />;
  if (isEmpty) {
    if (isLoading && !isOffline) return <Loading />;
    if (!isLoading && !isSearching) return placeholders && <placeholders.NoMessages view={view} />;
    return (
      <div className={styles.empty}>
        {isLoading
          ? i18n._('This cannot be loaded without a connection.')
          : results && <results.NothingFound view={view} />}
      </div>
    );
  }
  const list = <LoadedMessages view={view} near={near} start={start} commands={commands} />;
  return (
    <MediaContext.Provider value={media}>
      {isGone && (
        <output className={styles.gone}>
          {i18n._('The message at this address was deleted or moved. These are its neighbors.')}
        </output>
      )}
      {isSearching ? results && <results.SearchResults view={view}>{list}</results.SearchResults> : list}
      <Suspense>
        <Announcements key={`${narrowKey(view.narrow)} aloud`} keys={keys} isLive={newer === 'none'} />
      </Suspense>
    </MediaContext.Provider>
  );
}

interface LoadedProps {
  readonly view: ConversationView;
  readonly near: number | null;
  readonly start: ReadingPlace | null;
  readonly commands: MessageCommands;
}

function LoadedMessages({ view, near, start, commands }: LoadedProps) {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat } = services;
  const keys = useReading(view.keys);
  const older = useReading(view.older);
  const newer = useReading(view.newer);
  const anchor = useReading(view.anchor);
  const firstUnread = useReading(view.firstUnread);
  // Own messages sent in this run have local keys.
  // biome-ignore lint/correctness/useExhaustiveDependencies: read when the list opens there.
  const startKey = useMemo(() => (anchor === null ? null : chat.keyOf(anchor)), [view, anchor]);
  const unreadKey = firstUnread === null ? null : chat.keyOf(firstUnread);
  const draw = useDrawnRow(view, keys, unreadKey, commands);
  const loading = useLoading(view);
  const onRest = useKeptPlace(view);
  const onSeen = useReadMarks(view);
  const onKey = (event: KeyboardEvent<HTMLElement>) =>
    pressOnMessage(event, { services, i18n, commands, shown: view.destination });
  return (
    <MessageList
      key={narrowKey(view.narrow)}
      label={i18n._('Messages')}
      keys={keys}
      place={`${narrowKey(view.narrow)} ${anchor}`}
      startKey={startKey}
      startTop={start !== null && start.id === anchor ? (start.top ?? 'end') : anchor === near ? 'middle' : 'third'}
      linkedKey={near !== null && anchor === near ? startKey : null}
      unreadKey={unreadKey}
      hasNewer={newer !== 'none'}
      {...loading}
      onRest={onRest}
      onSeen={onSeen}
      onKey={onKey}
      draw={draw}
      header={
        older === 'failed' ? (
          <Failed text={i18n._('Older messages could not be loaded.')} onRetry={loading.onNearStart} />
        ) : (
          older === 'none' && <p className={styles.start}>{i18n._('This is the beginning.')}</p>
        )
      }
    />
  );
}

/** Renders the row of a message. A failure leaves the other rows visible. */
function useDrawnRow(
  view: ConversationView,
  keys: readonly string[],
  unreadKey: string | null,
  commands: MessageCommands,
) {
  const { i18n } = useLingui();
  const chat = useChat();
  const isOneConversation = view.destination !== null;
  return useCallback(
    (key: string, index: number, isSelected: boolean, onLabel: (label: string) => void) => (
      <ErrorBoundary
        text={i18n._('This message could not be displayed. Its text:')}
        rest={() => (
          <Suspense>
            <PlainText html={chat.message(key).peek()?.html ?? ''} />
          </Suspense>
        )}
      >
        <MessageRow
          messageKey={key}
          previousKey={keys[index - 1] ?? null}
          isFirstUnread={key === unreadKey}
          isSelected={isSelected}
          showsDestination={!isOneConversation}
          commands={commands}
          view={view}
          onLabel={onLabel}
        />
      </ErrorBoundary>
    ),
    [keys, unreadKey, isOneConversation, commands, view, chat, i18n],
  );
}

/** Loads what a place in the list needs. */
function useLoading(view: ConversationView) {
  const onNearStart = useCallback(() => void view.loadOlder(), [view]);
  const onNearEnd = useCallback(() => void view.loadNewer(), [view]);
  const onLong = useCallback(() => view.keepNewest(KEPT_MESSAGES), [view]);
  const onNewest = useCallback(() => view.goTo('newest'), [view]);
  const onStay = useCallback(() => view.stay(), [view]);
  const onUnread = useCallback(() => void view.goTo(view.firstUnread.peek() ?? 'newest'), [view]);
  return { onNearStart, onNearEnd, onLong, onNewest, onStay, onUnread };
}

/** Keeps the reading position in the history of the browser. */
function useKeptPlace(view: ConversationView) {
  const { chat, navigation } = useServices();
  const hash = usePlace((place) => place.hash);
  return useCallback(
    (key: string, top: number | null) => {
      const id = chat.message(key).peek()?.id ?? null;
      const kept = navigation.kept();
      // The page briefly shows the previous place after its address has changed.
      const place = navigation.current();
      const shown = chat.ownAddress(place.address);
      if (place.hash !== hash || shown?.view !== 'narrow' || narrowKey(shown.narrow) !== narrowKey(view.narrow)) return;
      // Browsers limit the number of calls.
      if (id !== null && (kept?.id !== id || kept.top !== top)) navigation.keep({ id, top });
    },
    [chat, navigation, view, hash],
  );
}

/** Marks messages as read that were seen. */
function useReadMarks(view: ConversationView) {
  const chat = useChat();
  const isReady = useReading(chat.isReady);
  // biome-ignore lint/correctness/useExhaustiveDependencies: messages that were seen before the state is there count then.
  return useCallback(
    (seen: readonly string[]) => view.seen(seen.flatMap((key) => chat.message(key).peek()?.id ?? [])),
    [chat, view, isReady],
  );
}

/** True if the linked message is not in the conversation. */
function useIsGone(near: string | null, keys: readonly string[], isLoading: boolean): boolean {
  const found = useRef<string | null>(null);
  if (near !== null && keys.includes(near)) found.current = near;
  return near !== null && found.current !== near && keys.length > 0 && !isLoading;
}

/** Part of a narrow that does not exist for the user. Observed inside computations. */
function missingIn({ isReady, state }: Chat, narrow: Narrow): 'channel' | 'person' | null {
  if (!isReady.value) return null;
  for (const { operator, operand } of narrow) {
    if (operator === 'channel' && typeof operand === 'number' && !state.channels.get(operand)) return 'channel';
    if (operator === 'dm' && operand.some((id) => !state.people.get(id))) return 'person';
  }
  return null;
}

function Failed({ text, onRetry }: { readonly text: string; readonly onRetry: () => void }) {
  const { i18n } = useLingui();
  return (
    <div className={styles.empty} role="alert">
      <p>{text}</p>
      <button type="button" onClick={onRetry}>
        <RotateCcw size={16} aria-hidden /> {i18n._('Try again')}
      </button>
    </div>
  );
}

export function ConversationTitle({ narrow }: { readonly narrow: Narrow }) {
  const { i18n } = useLingui();
  const destination = destinationOf(narrow);
  const channelId = onlyChannel(narrow);
  if (destination) return <DestinationName destination={destination} />;
  if (channelId !== null) return <ChannelName channelId={channelId} />;
  if (narrow.length === 0) return <>{i18n._('Combined feed')}</>;
  const [first, ...others] = narrow;
  const isOne = first !== undefined && others.length === 0 && !first.negated;
  if (isOne && first.operator === 'is' && first.operand === 'starred') return <>{i18n._('Starred messages')}</>;
  if (isOne && first.operator === 'is' && first.operand === 'mentioned') return <>{i18n._('Mentions')}</>;
  return <SearchTitle narrow={narrow} />;
}

/** Words of a search; the field or the results show its filters. */
function SearchTitle({ narrow }: { readonly narrow: Narrow }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const shown = isSearch(narrow) ? narrow.filter(isWord) : narrow;
  const text = useComputed(() => formatSearch(chat.state, shown), [chat, narrow]);
  return <>{text === '' ? i18n._('Search') : i18n._('Search: {text}', { text })}</>;
}
