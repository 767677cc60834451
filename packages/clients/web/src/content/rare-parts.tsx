import { useLingui } from '@lingui/react';
import { type CSSProperties, type MouseEvent, type ReactNode, useMemo, useState } from 'react';
import { Check, Copy, ImageOff, Maximize2, SquareArrowOutUpRight } from '../icons/icons.js';
import { useField } from '../services/context.js';
import { useFile } from '../services/use-file.js';
import styles from './message-body.module.css';
import previewStyles from './page-preview.module.css';
import { type CodeNode, type ContentNode, type MathNode, type PlayedNode, STYLE, safeUrl } from './tree.js';

export { FileSize } from './file-size.js';

/** Renders KaTeX elements: spans with classes and inline lengths, positioned by KaTeX's style sheet. */
export function Formula({ node }: { readonly node: MathNode }) {
  const { element, source, isBlock } = node;
  return (
    <span className={isBlock ? 'katex-display' : undefined}>
      <span className="katex" role="math" aria-label={source} dir="ltr">
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

/** Roots, arrows and braces: KaTeX renders them as a single `path`. */
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

interface PagePreviewProps {
  readonly element: Element;
  readonly baseUrl: string;
  readonly linkTarget: string;
}

/** Card with picture, site, title and description of a linked page (markdown §15.6). */
export function PagePreview({ element, baseUrl, linkTarget }: PagePreviewProps) {
  const link = element.querySelector('a');
  const href = safeUrl(link?.getAttribute('href'), baseUrl);
  const [, address] = /url\("([^"]*)"\)/.exec(link?.getAttribute(STYLE) ?? '') ?? [];
  const src = safeUrl(address, baseUrl);
  if (href === null) return null;
  const textOf = (part: string) => element.querySelector(`.message_embed_${part}`)?.textContent ?? '';
  return (
    <a className={previewStyles.card} href={href} target={linkTarget} rel="noopener noreferrer">
      {/* Other sites must not see who reads the message. */}
      {src?.startsWith(baseUrl) && <PagePicture src={src} />}
      <span className={previewStyles.text}>
        <span className={previewStyles.site}>{new URL(href).host.replace(/^www\./, '')}</span>
        <span className={previewStyles.title} dir="auto">
          {textOf('title')}
        </span>
        <span className={previewStyles.description} dir="auto">
          {textOf('description')}
        </span>
      </span>
    </a>
  );
}

function PagePicture({ src }: { readonly src: string }) {
  const file = useFile(src);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return null;
  return (
    <img
      className={previewStyles.picture}
      src={file ?? undefined}
      alt=""
      loading="lazy"
      onError={() => setBroken(true)}
    />
  );
}

interface HiddenProps {
  readonly url: string;
  onShow(): void;
}

/** Placeholder for a file from another site. */
export function Hidden({ url, onShow }: HiddenProps) {
  const { i18n } = useLingui();
  return (
    <button type="button" className={styles.hiddenImage} onClick={onShow}>
      <ImageOff size={16} aria-hidden />
      {i18n._('Show file from {site}', { site: new URL(url).host })}
    </button>
  );
}

interface PlayerProps {
  readonly media: PlayedNode;
  /** Opens the file in the viewer; null without a viewer. */
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

/** Code block buttons: playgrounds for its language, and copying. */
export function CodeTools({ node }: { readonly node: CodeNode }) {
  const { i18n } = useLingui();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(node.text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  const label = isCopied ? i18n._('Copied') : i18n._('Copy code');
  return (
    <div className={styles.codeTools}>
      <Playgrounds node={node} />
      <button type="button" onClick={copy} aria-label={label} title={label}>
        {isCopied ? <Check size={16} /> : <Copy size={16} />}
      </button>
    </div>
  );
}

/** Links that open a code block in playgrounds for its language. */
function Playgrounds({ node }: { readonly node: CodeNode }) {
  const { i18n } = useLingui();
  const playgrounds = useField('realm_playgrounds') ?? [];
  return playgrounds.map(({ id, name, pygments_language, url_template }) => {
    if (pygments_language.toLowerCase() !== node.language.toLowerCase()) return null;
    const href = expand(url_template, node.text);
    const label = i18n._('View in {name}', { name });
    // Other schemes could execute the message's code.
    if (!/^https?:\/\//i.test(href)) return null;
    return (
      <a key={id} href={href} target="_blank" rel="noopener noreferrer" aria-label={label} title={label}>
        <SquareArrowOutUpRight size={16} aria-hidden />
      </a>
    );
  });
}

/** Expands an RFC 6570 template; the server ensures that `code` is its only variable (organization §7). */
const expand = (template: string, code: string): string =>
  template.replaceAll(/\{([+#./;?&]?)code(?:\*|:(\d+))?\}/g, (_, operator: string, length?: string) => {
    const value = length === undefined ? code : [...code].slice(0, Number(length)).join('');
    if (operator === '+') return encodeReserved(value);
    if (operator === '#') return `#${encodeReserved(value)}`;
    const isNamed = operator === '?' || operator === '&' || operator === ';';
    return `${operator}${isNamed ? 'code=' : ''}${encode(value)}`;
  });

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Keeps reserved and encoded characters unchanged. */
const encodeReserved = (text: string): string =>
  encodeURI(text)
    .replaceAll(/%5[BD]/g, (bracket) => decodeURIComponent(bracket))
    .replaceAll(/%25([\dA-Fa-f]{2})/g, '%$1');

interface MarkedProps {
  readonly nodes: readonly ContentNode[];
  draw(nodes: readonly ContentNode[]): ReactNode;
}

/** Content with highlighted alert words. */
export function Marked({ nodes, draw }: MarkedProps) {
  const words = useField('alert_words');
  return useMemo(() => draw(words?.length ? markWords(nodes, words) : nodes), [nodes, words, draw]);
}

/** Highlights words in text. Skips code blocks, mentions and addresses (markdown §17). */
function markWords(nodes: readonly ContentNode[], words: readonly string[]): readonly ContentNode[] {
  // If several words begin at the same place, the longest is highlighted.
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const choice = longestFirst.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<=^|[\\s(".,';[*\`>])(${choice})(?=$|[\\s)?:.,';\\]!*\`])`, 'i');
  const mark = (node: ContentNode): ContentNode | readonly ContentNode[] => {
    if (typeof node === 'string') {
      return node.split(pattern).map((text, index) => (index % 2 === 0 ? text : { type: 'alert-word', text }));
    }
    if (!('children' in node)) return node;
    const children = node.children.flatMap(mark);
    return node.type === 'spoiler' ? { ...node, children, header: node.header.flatMap(mark) } : { ...node, children };
  };
  return nodes.flatMap(mark);
}
