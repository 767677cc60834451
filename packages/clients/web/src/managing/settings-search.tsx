import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type ComponentType, startTransition, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { mounted } from '../kit/mounted.js';
import styles from './managing.module.css';
import { Heading } from './page-parts.js';
import type { SettingsArea, SettingsSection } from './sections.js';

interface SearchedSection extends SettingsSection {
  readonly Page: ComponentType<{ readonly part: string | undefined }>;
}

interface Props {
  readonly query: string;
  /** Sections that contain settings. */
  readonly sections: readonly SearchedSection[];
}

/** Settings found by labels, hints and headings, editable in place. */
export function FoundSettings({ query, sections }: Props) {
  const { i18n } = useLingui();
  const frame = useRef<HTMLElement>(null);
  const [count, setCount] = useState<number | null>(null);
  useLayoutEffect(() => observe(mounted(frame), () => setCount(showFound(mounted(frame), query))), [query]);
  return (
    <section ref={frame} className={styles.page} data-found aria-label={i18n._('Search settings')}>
      <p className={styles.hint} role="status">
        {count === 0
          ? i18n._('Nothing found')
          : i18n._('{count, plural, one {# setting} other {# settings}}', { count: count ?? 0 })}
      </p>
      {sections.map(({ key, title, Page }) => (
        <div key={key} className={styles.foundPage}>
          <Heading title={title} />
          <Page part={undefined} />
        </div>
      ))}
    </section>
  );
}

/** Hides settings, sections and pages without a match. Returns the number of found settings. */
function showFound(frame: HTMLElement, query: string): number {
  let found = 0;
  for (const page of frame.querySelectorAll<HTMLElement>(`.${styles.foundPage}`)) {
    const isPageFound = isFound(page.querySelector('h2'), query);
    let isPageShown = false;
    for (const section of page.querySelectorAll<HTMLElement>(`.${styles.section}`)) {
      const isWhole = isPageFound || isFound(section.querySelector('h3'), query);
      let isShown = isWhole;
      for (const setting of section.querySelectorAll<HTMLElement>('[data-setting]')) {
        setting.hidden = !(isWhole || isFound(setting.querySelector('label, span'), query));
        if (setting.hidden) continue;
        isShown = true;
        found++;
      }
      section.hidden = !isShown;
      section.toggleAttribute('data-whole', isWhole);
      isPageShown ||= isShown;
    }
    page.hidden = !isPageShown;
  }
  return found;
}

const isFound = (label: Element | null, query: string): boolean => {
  const text = label?.textContent ?? '';
  return text.toLowerCase().includes(query.toLowerCase()) || rankOf(query, text) !== null;
};

export interface SettingPlace {
  /** Area, section and setting. */
  readonly path: readonly [area: string, section: string, setting: string];
  readonly label: string;
  /** Title of the section. */
  readonly section: string;
  /** Other texts of the setting, such as its hint, its options and the heading above it. */
  readonly words: string;
}

interface IndexProps {
  readonly sections: readonly (SearchedSection & { readonly area: SettingsArea })[];
  /** Called once, with the settings of all sections. */
  onRead(settings: readonly SettingPlace[]): void;
}

/**
 * Lists settings by rendering their pages, since settings are known only to their pages: one after the other, outside of
 * the document, while the browser is idle.
 */
export function SettingsIndex({ sections, onRead }: IndexProps) {
  const [frame] = useState(() => document.createElement('div'));
  const [read, setRead] = useState<readonly SettingPlace[][] | null>(null);
  const section = read === null ? undefined : sections[read.length];
  useLayoutEffect(() => {
    if (read !== null && !section) onRead(read.flat());
    // Other updates would render a page without interruption.
    else startTransition(() => setRead(section ? [...read!, settingsIn(frame, section)] : []));
  }, [section, read, frame, onRead]);
  return section && createPortal(<section.Page key={section.key} part={undefined} />, frame);
}

/** Settings, and buttons of a section. */
const SETTINGS = `[data-setting], .${styles.section} > button, .${styles.section} > .${styles.rowButtons} > *`;

const labelOf = (setting: Element): string =>
  ((setting.matches('[data-setting]') && setting.querySelector('label, span')) || setting).textContent.trim();

const nameOf = (setting: HTMLElement): string => setting.dataset.setting ?? labelOf(setting);

const settingsIn = (frame: HTMLElement, { area, key, title }: IndexProps['sections'][number]): SettingPlace[] =>
  [...frame.querySelectorAll<HTMLElement>(SETTINGS)].map((setting) => {
    const heading = setting.closest(`.${styles.section}`)?.querySelector('h3')?.textContent ?? '';
    return {
      path: [area, key, nameOf(setting)],
      label: labelOf(setting),
      section: title,
      words: `${[...setting.querySelectorAll('*')].map(ownText).join(' ')} ${setting.title} ${heading}`,
    };
  });

const ownText = ({ childNodes }: Element): string =>
  [...childNodes].map((node) => (node instanceof Text ? node.data : '')).join(' ');

/** Scrolls to a setting and focuses its control, once its page has loaded. Returns a function that stops waiting. */
export function showSetting(page: HTMLElement, name: string): () => void {
  let isShown = false;
  return observe(page, () => {
    const setting = [...page.querySelectorAll<HTMLElement>(SETTINGS)].find((each) => nameOf(each) === name);
    if (!setting || isShown) return;
    isShown = true;
    setting.scrollIntoView({ block: 'center' });
    (setting.querySelector<HTMLElement>('input, select, textarea, button') ?? setting).focus({ preventScroll: true });
  });
}

/** Calls a function now and when settings appear, which some pages load later. Returns an unsubscribe function. */
function observe(page: HTMLElement, onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(page, { childList: true, subtree: true });
  onChange();
  return () => observer.disconnect();
}
