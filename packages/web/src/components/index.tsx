import '../app/tokens.css';
import { I18nProvider } from '@lingui/react';
import type { Chat as ChatState, ConversationView, Destination, MessageRow, Narrow, Reading } from '@parley/chat';
import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { loadLanguage } from '../app/languages.js';
import { type ElementEvents, ElementView, startOf } from '../element/element-view.js';
import { hashOfLink } from '../element/links.js';
import { type Components, ComponentsContext } from '../services/components.js';
import { ServicesContext, useComputed, useServices } from '../services/context.js';
import { OwnNavigation } from '../services/location.js';
import { openForHost } from '../services/open-for-host.js';
import type { OpenedServices } from '../services/services.js';
import { useReading as useValue } from '../services/use-reading.js';

export type { AvatarProps, Components, MessageBodyProps } from '../services/components.js';

export interface ParleyProviderProps {
  /** Address of Parley: `/chat`, where the router is mounted. It has the origin of the page. */
  readonly url: string;
  /** Language such as `de`; default: that of the page, then of the browser. */
  readonly language?: string;
  /** Parts of the chat that the product draws itself. */
  readonly components?: Partial<Components>;
  /** Shown while the chat is loading. */
  readonly fallback?: ReactNode;
  /** Shown to people who are not logged in. */
  readonly loggedOut?: ReactNode;
  /** Called when the user has written a message. */
  readonly onSent?: (destination: Destination, content: string) => void;
  readonly children?: ReactNode;
}

interface Opened {
  readonly services: OpenedServices | null;
  readonly i18n: Awaited<ReturnType<typeof loadLanguage>>;
}

const LanguageContext = createContext('en');
const NO_COMPONENTS: Partial<Components> = {};

/** Connects the parts within it to the chat of the user. All of them share one connection. */
export function ParleyProvider({
  url,
  language,
  components = NO_COMPONENTS,
  fallback = null,
  loggedOut = null,
  onSent,
  children,
}: ParleyProviderProps): ReactNode {
  const opened = useOpened(url, language);
  const [navigation] = useState(() => new OwnNavigation('#inbox'));
  if (opened === null) return fallback;
  const { services, i18n } = opened;
  if (services === null) return loggedOut;
  return (
    <I18nProvider i18n={i18n}>
      <LanguageContext.Provider value={i18n.locale}>
        <ComponentsContext.Provider value={components}>
          <ServicesContext.Provider value={{ ...services, navigation, ...(onSent && { onSent }) }}>
            {children}
          </ServicesContext.Provider>
        </ComponentsContext.Provider>
      </LanguageContext.Provider>
    </I18nProvider>
  );
}

/** Opens the chat as long as the provider is part of the page. */
function useOpened(url: string, language: string | undefined): Opened | null {
  const [opened, setOpened] = useState<Opened | null>(null);
  useEffect(() => {
    const baseUrl = new URL(url.endsWith('/') ? url : `${url}/`, location.href).href;
    const languages = [language ?? document.documentElement.lang, ...navigator.languages].filter(Boolean);
    let isOver = false;
    const services = openForHost(baseUrl);
    void Promise.all([services, loadLanguage(languages)]).then(([own, i18n]) => {
      if (!isOver) setOpened({ services: own, i18n });
    });
    return () => {
      isOver = true;
      setOpened(null);
      void services.then((own) => own?.close());
    };
  }, [url, language]);
  return opened;
}

/** Conversation that a part shows: a channel or one topic of it, or the people of a direct conversation. */
export interface Place {
  /** Name or id. */
  readonly channel?: string | number;
  readonly topic?: string;
  /** Ids of people. */
  readonly direct?: readonly number[];
}

export interface PartProps {
  readonly className?: string;
  /** Default: what the reader's system prefers. */
  readonly theme?: 'light' | 'dark';
  /** Called with the number of unread messages, at the start and on each change. */
  readonly onUnread?: (count: number) => void;
  /** Called when the user follows a link within the chat. `false` leaves the part where it is. */
  readonly onOpen?: (address: string) => boolean | undefined;
  /** Called when the user wants to know more about a person; `false` keeps the card of the chat closed. */
  readonly onPerson?: (userId: number) => boolean | undefined;
}

/** Everything: conversations, messages, people and search. */
export function Chat(props: PartProps & Place): ReactNode {
  return <Part {...props} view="chat" />;
}

/** Messages of one conversation, with a field to write. */
export function Conversation(props: PartProps & Place): ReactNode {
  return <Part {...props} view="conversation" />;
}

/** Conversations with their unread counts. Follow their links with `onOpen`. */
export function ConversationList(props: PartProps): ReactNode {
  return <Part {...props} view="list" />;
}

interface ViewProps extends PartProps, Place {
  readonly view: 'chat' | 'conversation' | 'list';
}

function Part({ view, className, theme, onUnread, onOpen, onPerson, ...place }: ViewProps): ReactNode {
  const services = useServices();
  const language = useContext(LanguageContext);
  const [navigation] = useState(() => new OwnNavigation('#inbox'));
  const tell = useCallback(
    <N extends keyof ElementEvents>(name: N, detail: ElementEvents[N]): boolean => {
      if (name === 'parley-unread') onUnread?.((detail as ElementEvents['parley-unread']).count);
      if (name === 'parley-open') return onOpen?.((detail as ElementEvents['parley-open']).address) !== false;
      return true;
    },
    [onUnread, onOpen],
  );
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = root.current!;
    const onClick = (event: CustomEventInit<ElementEvents['parley-person']> & Event) => {
      if (onPerson?.(event.detail!.userId) === false) event.preventDefault();
    };
    element.addEventListener('parley-person', onClick);
    return () => element.removeEventListener('parley-person', onClick);
  }, [onPerson]);
  const follow = (event: MouseEvent) => {
    const hash = hashOfLink(event.nativeEvent, services.baseUrl);
    if (hash === null) return;
    event.preventDefault();
    if (tell('parley-open', { address: hash })) navigation.navigate(hash);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only links within are followed.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the Enter key clicks a link.
    <div ref={root} className={className} data-parley="" data-theme={theme} lang={language} onClick={follow}>
      <ServicesContext.Provider value={{ ...services, navigation }}>
        <ElementView shown={{ view, ...attributesOf(place) }} tell={tell} />
      </ServicesContext.Provider>
    </div>
  );
}

const attributesOf = ({ channel, topic, direct }: Place) => ({
  channel: channel === undefined ? null : String(channel),
  topic: topic ?? null,
  direct: direct?.join() ?? null,
});

/** State and commands of the chat, as `parley/chat` has them. */
export const useChat = (): ChatState => useServices().chat;

/** Value of a reading of the chat; renders again whenever it changes. */
export const useReading = <T,>(reading: Reading<T>): T => useValue(reading);

/** Number of unread messages of a place; of all conversations without one. */
export function useUnread(place: Place = {}): number {
  const chat = useChat();
  const { channel, topic, direct } = attributesOf(place);
  return useComputed(
    () => chat.sidebar.unreadIn(narrowOfPlace(chat, { channel, topic, direct }) ?? []).count,
    [chat, channel, topic, direct],
  );
}

/** Messages of a place; null if there is no such conversation, or while it opens. */
export function useConversation(place: Place): ConversationView | null {
  const chat = useChat();
  const { channel, topic, direct } = attributesOf(place);
  const [view, setView] = useState<ConversationView | null>(null);
  useEffect(() => {
    const narrow = narrowOfPlace(chat, { channel, topic, direct });
    if (narrow === null) return;
    const opened = chat.open(narrow);
    setView(opened);
    return () => {
      opened.close();
      setView(null);
    };
  }, [chat, channel, topic, direct]);
  return view;
}

/** A message by its key in `ConversationView.keys`. */
export const useMessage = (key: string): MessageRow | null => useValue(useChat().message(key));

function narrowOfPlace(chat: ChatState, place: ReturnType<typeof attributesOf>): Narrow | null {
  const start = startOf(chat, place);
  const address = start === null ? null : chat.parseAddress(start);
  return address?.view === 'narrow' ? address.narrow : null;
}
