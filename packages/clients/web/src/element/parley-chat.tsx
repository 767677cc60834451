import '../app/tokens.css';
import { I18nProvider } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { directionOf } from '@parley/domain/kernel';
import { createRoot, type Root } from 'react-dom/client';
import { replaceTexts } from '../app/host-texts.js';
import { loadLanguage, validTag } from '../app/languages.js';
import { LogInAgain } from '../app/lines.js';
import { ServicesContext } from '../services/context.js';
import type { HostTexts, ShownData } from '../services/element-types.js';
import { FIELDS, isPlainKey } from '../services/letter-keys.js';
import { type Navigation, OwnNavigation, PageNavigation } from '../services/location.js';
import type { PassedTokens } from '../services/passed-tokens.js';
import { readerSizeSheet } from '../services/reader-size.js';
import type { OpenedServices } from '../services/services.js';
import { AttributeTokens } from './attribute-tokens.js';
import styles from './element.module.css';
import { ElementView, isView, mistakeIn } from './element-view.js';
import { downloadFile, fileOfLink, hashOfLink } from './links.js';
import { Opening } from './opening.js';
import type { Shown, Tell } from './place.js';
import { forgetVisit, visit } from './visits.js';

/** Organization URL: this file is in a subfolder of it. */
const baseUrl = new URL(/* @vite-ignore */ '..', import.meta.url).href;

/** File names of the style sheets. */
interface Sheets {
  readonly styleSheet: string;
  /** Formula fonts; a shadow root cannot declare fonts. */
  readonly fonts: string;
}

let sheets: Sheets;
/** Chat of all elements without the attribute `token`. */
let common: Opening;

const linkTo = (name: string): HTMLLinkElement =>
  Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL(name, import.meta.url).href });

/**
 * `<parley-chat>`: the chat embedded in another product's page. Attributes: `view` (`chat`, `conversation`, `list` or
 * `button`), `channel` (name or id) with `topic`, `direct` (user ids), `lang`, `theme`, `dates`, `links`, `address`,
 * `sends`, `tools`, `token`, `visitor`, `data`.
 */
class ParleyChatElement extends HTMLElement {
  static readonly observedAttributes = [
    'view',
    'channel',
    'topic',
    'direct',
    'lang',
    'dates',
    'links',
    'address',
    'sends',
    'tools',
    'token',
    'visitor',
    'data',
  ];

  private readonly ownNavigation = new OwnNavigation('#inbox');
  private readonly pageNavigation = new PageNavigation(() => '#inbox', true);
  private ownTexts: HostTexts = {};
  private root: Root | null = null;
  /** Rendered chat. */
  private shared: OpenedServices | null = null;
  private container: HTMLElement | null = null;
  /** Resolves once the style sheet is loaded. */
  private styled: Promise<void> | null = null;
  private drawing = 0;
  private opening: Opening | null = null;

  get texts(): HostTexts {
    return this.ownTexts;
  }

  set texts(texts: HostTexts) {
    this.ownTexts = texts;
    this.attributeChangedCallback();
  }

  connectedCallback(): void {
    // Set by the page before this script was loaded.
    if (Object.hasOwn(this, 'texts')) {
      this.ownTexts = this.texts;
      Reflect.deleteProperty(this, 'texts');
    }
    this.open();
    if (!this.shadowRoot) this.attachShadow({ mode: 'open' });
    void this.draw();
  }

  disconnectedCallback(): void {
    this.opening?.leave();
    this.opening = null;
    const visitor = this.getAttribute('visitor');
    if (visitor !== null) forgetVisit(visitor);
    // Frameworks move elements by removing and re-inserting them.
    queueMicrotask(() => {
      if (!this.isConnected) this.end();
    });
  }

  /** Chooses the chat: that of the attribute `token`, or the page's. */
  private open(): void {
    const tokens = this.hasAttribute('token') ? new AttributeTokens(baseUrl, this) : undefined;
    this.opening = tokens ? new Opening(baseUrl, tokens) : common;
    this.opening.enter();
    if (this.opening.tokens) this.opening.tokens.again = () => this.again();
  }

  private again(): void {
    // Fields save their texts, which the next chat restores.
    this.end();
    this.opening?.renew();
    void this.draw();
  }

  private end(): void {
    this.root?.unmount();
    this.root = null;
    this.container?.remove();
  }

  attributeChangedCallback(name?: string, last?: string | null, value?: string | null): void {
    if (!this.isConnected || !this.root) return;
    if (name === 'token') this.changeToken(last != null, value != null);
    else void this.draw();
  }

  /** A next token is used when the server has rejected the last one, or at once if that opened no chat. */
  private changeToken(had: boolean, has: boolean): void {
    if (had && has) {
      if (!this.shared) this.again();
      return;
    }
    this.end();
    this.opening?.leave();
    this.open();
    void this.draw();
  }

  private async draw(): Promise<void> {
    const drawing = ++this.drawing;
    const languages = [this.lang || document.documentElement.lang, ...navigator.languages].filter(Boolean);
    const dates = validTag(this.getAttribute('dates') ?? undefined);
    const { opening } = this;
    if (!opening) return;
    const visitor = this.getAttribute('visitor');
    // The host sets the cookie of a visitor before the chat is opened.
    const visited = visitor === null ? null : await visit(visitor);
    const [i18n, shared] = await Promise.all([loadLanguage(languages, dates), opening.services()]);
    replaceTexts(i18n, this.ownTexts);
    if (!this.isConnected || drawing !== this.drawing) return;
    if (this.root && shared !== this.shared) this.end();
    this.shared = shared;
    if (!this.root) this.begin();
    // Components measure themselves when rendered.
    await this.styled;
    if (!this.isConnected || drawing !== this.drawing) return;
    const view = this.getAttribute('view');
    if (view !== null && !isView(view)) console.error(`<parley-chat>: ${mistakeIn(view)}`);
    const shown: Shown = {
      view,
      channel: this.getAttribute('channel') ?? visited?.channel ?? null,
      topic: this.getAttribute('topic') ?? visited?.topic ?? null,
      direct: this.getAttribute('direct'),
    };
    this.container!.lang = i18n.locale;
    this.container!.dir = directionOf(i18n.locale);
    this.root!.render(
      <I18nProvider i18n={i18n}>
        {shared ? (
          <ServicesContext.Provider
            value={{
              ...shared,
              navigation: this.navigation,
              linkTarget: this.getAttribute('links') ?? '_blank',
              ...(this.getAttribute('sends') === 'enter' && { sends: 'enter' as const }),
              ...(this.getAttribute('tools') === 'simple' && { tools: 'simple' as const }),
              onSent: this.onSent,
              onData: this.onData,
              dataOf: this.getAttribute('data'),
            }}
          >
            <ElementView shown={shown} tell={this.tell} />
          </ServicesContext.Provider>
        ) : (
          <p className={styles.line}>
            {opening.tokens && i18n._('The page around the chat has not logged you in.')}{' '}
            <LogInAgain baseUrl={baseUrl} tokens={opening.tokens} />
          </p>
        )}
      </I18nProvider>,
    );
  }

  private get navigation(): Navigation {
    return this.getAttribute('address') === 'page' ? this.pageNavigation : this.ownNavigation;
  }

  /** Dispatches an event; returns false if a listener prevented the default action. */
  private readonly tell: Tell = (name, detail) =>
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true }));

  private readonly onSent = (destination: Destination, content: string) =>
    this.tell('parley-sent', { destination, content });

  private readonly onData = (shown: ShownData) => this.tell('parley-data', shown);

  private begin(): void {
    if (!document.head.querySelector('link[data-parley-fonts]')) {
      const fonts = linkTo(sheets.fonts);
      fonts.dataset.parleyFonts = '';
      document.head.append(fonts);
    }
    this.container = Object.assign(document.createElement('div'), { className: 'parley' });
    this.container.dataset.parley = '';
    // Chat links change the element's content, not the page's address.
    this.container.addEventListener('click', (event) => this.follow(event));
    for (const type of ['keydown', 'keypress', 'keyup'] as const) this.container.addEventListener(type, keepTyping);
    const styles = linkTo(sheets.styleSheet);
    this.styled = new Promise((resolve) => {
      styles.onload = styles.onerror = () => resolve();
    });
    this.shadowRoot!.replaceChildren(styles, this.container);
    this.shadowRoot!.adoptedStyleSheets = [readerSizeSheet(':host')];
    this.root = createRoot(this.container);
  }

  private follow(event: MouseEvent): void {
    const tokens = this.opening?.tokens;
    const file = tokens ? fileOfLink(event, baseUrl) : null;
    if (tokens && file !== null) return void downloadFile(tokens, file, event);
    const hash = hashOfLink(event, baseUrl);
    if (hash === null) return;
    event.preventDefault();
    if (this.tell('parley-open', { address: hash })) this.navigation.navigate(hash);
  }
}

/**
 * Ends events of keys typed into a field. The page sees the element as their target, and could take letters as shortcuts.
 */
function keepTyping(event: KeyboardEvent): void {
  const isShortcut = !isPlainKey(event) || event.key === 'Escape' || event.key === 'Tab';
  if (!isShortcut && (event.target as Element).closest(FIELDS)) event.stopPropagation();
}

/** `around`: tokens of the host page of another origin, if the element is in a frame. */
export function define(names: Sheets, around?: PassedTokens): void {
  sheets = names;
  common = new Opening(baseUrl, around);
  if (!customElements.get('parley-chat')) customElements.define('parley-chat', ParleyChatElement);
}
