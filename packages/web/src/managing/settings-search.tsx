import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type ComponentType, useLayoutEffect, useRef, useState } from 'react';
import styles from './managing.module.css';
import { Heading } from './page-parts.js';
import type { SettingsSection } from './sections.js';

interface Props {
  readonly query: string;
  /** Sections that contain settings. */
  readonly sections: readonly (SettingsSection & {
    readonly Page: ComponentType<{ readonly part: string | undefined }>;
  })[];
}

/** Settings found by labels, hints and headings, editable in place. */
export function FoundSettings({ query, sections }: Props) {
  const { i18n } = useLingui();
  const frame = useRef<HTMLElement>(null);
  const [count, setCount] = useState<number | null>(null);
  useLayoutEffect(() => {
    const show = () => setCount(showFound(frame.current!, query));
    show();
    // Some settings appear after their page has loaded.
    const observer = new MutationObserver(show);
    observer.observe(frame.current!, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [query]);
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
