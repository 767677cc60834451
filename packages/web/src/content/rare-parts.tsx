import { useLingui } from '@lingui/react';
import { Maximize2 } from 'lucide-react';
import { type CSSProperties, type MouseEvent, type ReactNode, useEffect } from 'react';
import { useFile } from '../services/use-file.js';
import styles from './message-body.module.css';
import { type MathNode, type PlayedNode, STYLE } from './tree.js';

/** Draws KaTeX's own elements: spans with classes and inline lengths, which KaTeX's style sheet lays out. */
export function Formula({ node }: { readonly node: MathNode }) {
  const { element, source, isBlock } = node;
  useEffect(() => {
    void import('katex/dist/katex.min.css');
  }, []);
  return (
    <span className={isBlock ? 'katex-display' : undefined}>
      <span className="katex" role="math" aria-label={source}>
        {drawFormula(element, 0)}
      </span>
    </span>
  );
}

function drawFormula(element: Element, key: number): ReactNode {
  const lengths = (element.getAttribute(STYLE) ?? '').split(';').flatMap((declaration) => {
    const [name, value] = declaration.split(':').map((part) => part.trim());
    return name && value ? [[name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]] : [];
  });
  const children = [...element.childNodes].map((node, index) =>
    node instanceof Element ? drawFormula(node, index) : node.nodeValue,
  );
  if (element instanceof SVGElement) return drawSvg(element, children, key);
  return (
    <span
      key={key}
      className={element.className}
      style={Object.fromEntries(lengths) as CSSProperties}
      aria-hidden={key === 0 || undefined}
    >
      {children}
    </span>
  );
}

/** Roots, arrows and braces: KaTeX draws them as one `path`. */
function drawSvg(element: SVGElement, children: ReactNode[], key: number): ReactNode {
  const value = (name: string) => element.getAttribute(name) ?? undefined;
  if (element.tagName === 'path') return <path key={key} d={value('d')} />;
  if (element.tagName !== 'svg') return null;
  return (
    <svg
      key={key}
      aria-hidden="true"
      width={value('width')}
      height={value('height')}
      viewBox={value('viewBox')}
      preserveAspectRatio={value('preserveAspectRatio')}
    >
      {children}
    </svg>
  );
}

interface PlayerProps {
  readonly media: PlayedNode;
  /** Opens the viewer at the file; null where there is none. */
  readonly openViewer: ((event: MouseEvent<HTMLElement>) => void) | null;
}

export function Player({ media, openViewer }: PlayerProps) {
  const { type, src, title } = media;
  const { i18n } = useLingui();
  const file = useFile(src) ?? undefined;
  // biome-ignore lint/a11y/useMediaCaption: uploads have no captions.
  if (type === 'audio') return <audio controls preload="metadata" src={file} title={title} />;
  return (
    <span className={styles.media}>
      {/* biome-ignore lint/a11y/useMediaCaption: uploads have no captions. */}
      <video controls preload="metadata" src={file} title={title} />
      {openViewer && (
        <button
          type="button"
          className={styles.enlarge}
          aria-label={i18n._('Enlarge {name}', { name: title })}
          title={i18n._('Enlarge {name}', { name: title })}
          aria-haspopup="dialog"
          data-media=""
          onClick={openViewer}
        >
          <Maximize2 size={16} aria-hidden />
        </button>
      )}
    </span>
  );
}
