import type { I18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { type ReactNode, useEffect, useInsertionEffect, useState } from 'react';
import { replaceTexts } from '../app/host-texts.js';
import { loadLanguage, validTag } from '../app/languages.js';
import tokens from '../app/tokens.css?inline';
import { type Components, ComponentsContext } from '../services/components.js';
import { ServicesContext } from '../services/context.js';
import type { HostTexts } from '../services/element-types.js';
import { OwnNavigation } from '../services/location.js';
import { openForHost } from '../services/open-for-host.js';
import { readerSizeSheet } from '../services/reader-size.js';
import type { OpenedServices } from '../services/services.js';

export interface ParleyProviderProps {
  /** URL of the mounted router, such as `/chat`. Must have the page's origin. */
  readonly url: string;
  /** Language such as `de`; default: the page's, then the browser's. */
  readonly language?: string;
  /** Replacement texts of the product, by the English text. */
  readonly texts?: HostTexts;
  /** Language tag for dates and times, such as `en-GB` or `en-u-hc-h23`; default: the browser's. */
  readonly dates?: string;
  /** Link target for external pages; default: `_blank`. */
  readonly linkTarget?: string;
  /** `enter`: Enter sends, and Shift+Enter starts a line. Default: the user's setting. */
  readonly sends?: 'enter';
  /** `simple`: files, emoji and sending, without formatting, snippets, calls and drafts. Default: all tools. */
  readonly tools?: 'simple';
  /** Replacement components of the product. */
  readonly components?: Partial<Components>;
  /** Shown while the chat is loading. */
  readonly fallback?: ReactNode;
  /** Shown if nobody is logged in. */
  readonly loggedOut?: ReactNode;
  /** Called when the user has sent a message. */
  readonly onSent?: (destination: Destination, content: string) => void;
  readonly children?: ReactNode;
}

const NO_COMPONENTS: Partial<Components> = {};
const NO_TEXTS: HostTexts = {};

/** Connects the contained components to the user's chat. All of them share one connection. */
export function ParleyProvider({
  url,
  language,
  texts = NO_TEXTS,
  dates,
  linkTarget,
  sends,
  tools,
  components = NO_COMPONENTS,
  fallback = null,
  loggedOut = null,
  onSent,
  children,
}: ParleyProviderProps): ReactNode {
  useInsertionEffect(adoptTokens, []);
  const services = useOpened(url);
  const i18n = useLanguage(language, texts, dates);
  const [navigation] = useState(() => new OwnNavigation('#inbox'));
  if (services === undefined || i18n === null) return fallback;
  if (services === null) return loggedOut;
  return (
    <I18nProvider i18n={i18n}>
      <ComponentsContext.Provider value={components}>
        <ServicesContext.Provider
          value={{
            ...services,
            navigation,
            ...(linkTarget && { linkTarget }),
            ...(sends && { sends }),
            ...(tools && { tools }),
            ...(onSent && { onSent }),
          }}
        >
          {children}
        </ServicesContext.Provider>
      </ComponentsContext.Provider>
    </I18nProvider>
  );
}

let sheet: CSSStyleSheet | undefined;

/**
 * Adds the custom properties to the page. A style sheet in the product's bundle may lose `light-dark()`, which older
 * build targets replace with values for the whole page.
 */
function adoptTokens(): void {
  if (sheet) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(tokens);
  document.adoptedStyleSheets.push(sheet, readerSizeSheet(':where(:root)'));
}

/** Keeps the chat open while the provider is mounted. Null if nobody is logged in, undefined while opening. */
function useOpened(url: string): OpenedServices | null | undefined {
  const [opened, setOpened] = useState<OpenedServices | null>();
  useEffect(() => {
    const baseUrl = new URL(url.endsWith('/') ? url : `${url}/`, location.href).href;
    let isOver = false;
    const services = openForHost(baseUrl);
    void services.then((own) => isOver || setOpened(own));
    return () => {
      isOver = true;
      setOpened(undefined);
      void services.then((own) => own?.close());
    };
  }, [url]);
  return opened;
}

function useLanguage(language: string | undefined, texts: HostTexts, dates: string | undefined): I18n | null {
  const [i18n, setI18n] = useState<I18n | null>(null);
  // Products may pass texts inline, as a new object on each render.
  const key = JSON.stringify(texts);
  useEffect(() => {
    const languages = [language ?? document.documentElement.lang, ...navigator.languages].filter(Boolean);
    let isOver = false;
    void loadLanguage(languages, validTag(dates)).then((loaded) => {
      if (isOver) return;
      replaceTexts(loaded, JSON.parse(key) as HostTexts);
      setI18n(loaded);
    });
    return () => {
      isOver = true;
    };
  }, [language, key, dates]);
  return i18n;
}
