import { I18nProvider } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { type ReactNode, useEffect, useInsertionEffect, useState } from 'react';
import { loadLanguage } from '../app/languages.js';
import tokens from '../app/tokens.css?inline';
import { type Components, ComponentsContext } from '../services/components.js';
import { ServicesContext } from '../services/context.js';
import { OwnNavigation } from '../services/location.js';
import { openForHost } from '../services/open-for-host.js';
import type { OpenedServices } from '../services/services.js';

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
  useInsertionEffect(adoptTokens, []);
  const opened = useOpened(url, language);
  const [navigation] = useState(() => new OwnNavigation('#inbox'));
  if (opened === null) return fallback;
  const { services, i18n } = opened;
  if (services === null) return loggedOut;
  return (
    <I18nProvider i18n={i18n}>
      <ComponentsContext.Provider value={components}>
        <ServicesContext.Provider value={{ ...services, navigation, ...(onSent && { onSent }) }}>
          {children}
        </ServicesContext.Provider>
      </ComponentsContext.Provider>
    </I18nProvider>
  );
}

let sheet: CSSStyleSheet | undefined;

/**
 * Adds the custom properties to the page. A sheet that the product's bundler processes may lose `light-dark()`, which
 * older build targets replace by values for the whole page.
 */
function adoptTokens(): void {
  if (sheet) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(tokens);
  document.adoptedStyleSheets.push(sheet);
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
