import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import styles from './composer.module.css';
import { quotesIn } from './quotes.js';

/** Isolates fences, the words of which have no influence on the direction. */
const isolateFences = (lines: string): readonly ReactNode[] =>
  lines
    .split(/^((?:`{3}|~{3}).*)$/m)
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity.
    .map((part, index) => (index % 2 === 1 ? <bdi key={index}>{part}</bdi> : part));

interface Props {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
}

/** Bars next to the quotes in a message field, which cannot format its lines: an invisible copy of the text over it. */
export function QuoteLines({ field, text }: Props) {
  const copy = useRef<HTMLDivElement>(null);
  const runs = useMemo(() => quotesIn(text), [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place follows the text.
  useLayoutEffect(() => {
    const element = field.current;
    const { style } = copy.current!;
    if (!element) return;
    const place = () => {
      const { font, letterSpacing, padding } = getComputedStyle(element);
      const { offsetTop, offsetLeft, clientTop, clientLeft, clientWidth, clientHeight } = element;
      const [top, left] = [offsetTop + clientTop, offsetLeft + clientLeft];
      const box = { top, left, width: clientWidth, height: clientHeight };
      Object.assign(style, { font, letterSpacing, padding });
      for (const [name, value] of Object.entries(box)) style.setProperty(name, `${value}px`);
      scroll();
    };
    const scroll = () => {
      copy.current!.scrollTop = element.scrollTop;
    };
    const observer = new ResizeObserver(place);
    observer.observe(element);
    if (element.form) observer.observe(element.form);
    element.addEventListener('scroll', scroll);
    place();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', scroll);
    };
  }, [field, text]);
  return (
    <div ref={copy} className={styles.quotes} aria-hidden>
      {runs.map(({ isQuote, text: lines }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity.
        <div key={index} dir="auto" data-quote={isQuote || undefined}>
          {/* Gives an empty last line its height. */}
          {isolateFences(lines)}&#8203;
        </div>
      ))}
    </div>
  );
}
