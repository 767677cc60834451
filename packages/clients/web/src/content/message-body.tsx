import { useLingui } from '@lingui/react';
import {
  type ComponentProps,
  createContext,
  type MouseEvent,
  memo,
  type ReactNode,
  useContext,
  useMemo,
  useState,
} from 'react';
import { FileText } from '../icons/icons.js';
import { ComponentsContext } from '../services/components.js';
import { ServicesContext } from '../services/context.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import { useFile } from '../services/use-file.js';
import { MediaContext } from './media.js';
import styles from './message-body.module.css';
import { isOnlyEmoji, withoutShownLinks } from './shown-content.js';
import {
  type CodeNode,
  type ContentNode,
  type ImageNode,
  type MathNode,
  type Mention,
  type PlayedNode,
  parseContent,
} from './tree.js';

/** Context for message content: the organization's address, and names that may have changed since rendering. */
export interface ContentWorld {
  /** URL of the organization, with a trailing slash. */
  readonly baseUrl: string;
  userName(id: number): string | undefined;
  groupName(id: number): string | undefined;
  /** True for mentions of the user or of their groups. */
  concernsMe(mention: Mention): boolean;
  /** Opens the card of the mentioned person or group. */
  openMention(mention: Mention, anchor: HTMLElement): void;
  /** Link target for external pages. */
  readonly linkTarget: string;
  /** Formats times in the user's locale. */
  formatTime(date: Date): string;
}

export const ContentContext = createContext<ContentWorld | null>(null);

const useWorld = (): ContentWorld => {
  const world = useContext(ContentContext);
  if (!world) throw new Error('Message content needs a ContentContext');
  return world;
};

interface MessageBodyProps {
  readonly html: string;
  /** True if the server found an alert word of the user in the message. */
  readonly hasAlertWord?: boolean;
}

/** Renders message HTML. */
export const MessageBody = memo(function MessageBody({ html, hasAlertWord = false }: MessageBodyProps) {
  const { baseUrl } = useWorld();
  const parts = useRareParts(hasAlertWord);
  const nodes = useMemo(() => withoutShownLinks(parseContent(html, baseUrl), baseUrl), [html, baseUrl]);
  return (
    <div className={styles.body} part="message-body" data-large={isOnlyEmoji(nodes) || undefined}>
      {parts ? <parts.Marked nodes={nodes} draw={drawAll} /> : drawAll(nodes)}
    </div>
  );
});

/** Renders inline HTML, such as a topic with highlighted words. */
export function InlineContent({ html }: { readonly html: string }) {
  const { baseUrl } = useWorld();
  return drawAll(parseContent(html, baseUrl));
}

/** Bullets and quote lines are next to the start of the text. */
type Dir = 'auto' | undefined;

const drawAll = (nodes: readonly ContentNode[], directed = 0): ReactNode[] =>
  nodes.map((node, index) => draw(node, index, index < directed ? undefined : 'auto'));

function draw(node: ContentNode, key: number, dir: Dir): ReactNode {
  if (typeof node === 'string') return node;
  switch (node.type) {
    case 'element':
      return drawElement(node, key, dir);
    case 'list':
      return (
        <ol key={key} dir={dir} start={node.start}>
          {drawAll(node.children)}
        </ol>
      );
    case 'cell': {
      const Tag = node.tag;
      return (
        <Tag key={key} style={{ textAlign: node.align }}>
          {drawAll(node.children)}
        </Tag>
      );
    }
    case 'link':
      return <Link key={key} href={node.href} title={node.title} nodes={node.children} />;
    case 'mention':
      return <MentionPart key={key} mention={node} />;
    case 'emoji':
      return (
        <span key={key} className={styles.emoji} role="img" aria-label={node.name} title={node.title}>
          {node.text}
        </span>
      );
    case 'custom-emoji':
      return (
        <img key={key} className={styles.customEmoji} src={node.src} alt={`:${node.name}:`} title={`:${node.name}:`} />
      );
    case 'time':
      return <Time key={key} date={node.date} text={node.text} />;
    case 'code':
      return <Code key={key} node={node} />;
    case 'spoiler':
      return <Spoiler key={key} header={node.header} nodes={node.children} />;
    case 'math':
      return <Formula key={key} node={node} />;
    case 'embed':
      return <Embed key={key} element={node.element} />;
    case 'math-error':
      return (
        <code key={key} className={styles.mathError}>
          {node.text}
        </code>
      );
    case 'change': {
      const Tag = node.tag;
      return <Tag key={key}>{drawAll(node.children)}</Tag>;
    }
    case 'highlight':
      return <mark key={key}>{drawAll(node.children)}</mark>;
    case 'alert-word':
      return (
        <mark key={key} className={styles.alertWord}>
          {node.text}
        </mark>
      );
    case 'image':
      return <Image key={key} image={node} />;
    case 'video':
    case 'audio':
      return (
        <Foreign key={key} url={node.src} isStreamed>
          <Player media={node} />
        </Foreign>
      );
    case 'unknown':
      return (
        <span key={key} data-unknown="">
          {node.text}
        </span>
      );
  }
}

function drawElement(node: Extract<ContentNode, { type: 'element' }>, key: number, dir: Dir): ReactNode {
  const Tag = node.tag;
  if (Tag === 'hr' || Tag === 'br') return <Tag key={key} />;
  // React rejects white space between table rows, which the server's HTML contains.
  const isTablePart = Tag === 'table' || Tag === 'thead' || Tag === 'tbody' || Tag === 'tr';
  const children = isTablePart ? node.children.filter((child) => typeof child !== 'string') : node.children;
  if (Tag === 'table') {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, which needs the keyboard.
      <div className={styles.tableFrame} key={key} dir={dir} tabIndex={0}>
        <table>{drawAll(children)}</table>
      </div>
    );
  }
  const isQuote = Tag === 'blockquote';
  return (
    <Tag key={key} dir={isQuote || Tag === 'ul' ? dir : undefined}>
      {/* The browser ignores parts with a direction of their own, so the first one after a line break has none. */}
      {drawAll(children, isQuote ? 2 : 0)}
    </Tag>
  );
}

/** Uploads that are also shown as a picture or player. */
const MEDIA = /\.(a?png|avif|bmp|gif|heic|jpe?g|tiff?|webp|mp4|webm|mov|mp3|m4a|ogg|wav|flac|aac)$/i;

function Link({ href, title, nodes }: { href: string | null; title: string; nodes: readonly ContentNode[] }) {
  const { baseUrl, linkTarget } = useWorld();
  if (href === null) return drawAll(nodes);
  // Links within the application stay in this window; its router reads the hash.
  if (href.startsWith(`${baseUrl}#`)) return <a href={href.slice(baseUrl.length)}>{drawAll(nodes)}</a>;
  const isFile = href.startsWith(`${baseUrl}user_uploads/`) && !MEDIA.test(href);
  return (
    <a
      href={href}
      title={title || undefined}
      target={linkTarget}
      rel="noopener noreferrer"
      className={isFile ? styles.file : undefined}
    >
      {isFile && <FileText size={18} aria-hidden />}
      {drawAll(nodes)}
      {isFile && <UploadSize key={href} url={href} />}
    </a>
  );
}

function UploadSize({ url }: { readonly url: string }) {
  const parts = useRareParts(true);
  return parts && <parts.FileSize url={url} className={styles.size} />;
}

function MentionPart({ mention }: { mention: Mention }) {
  const world = useWorld();
  const name =
    mention.id === null
      ? undefined
      : mention.kind === 'group'
        ? world.groupName(mention.id)
        : world.userName(mention.id);
  const text = name === undefined ? mention.text : mention.isSilent ? name : `@${name}`;
  const open =
    mention.id === null || name === undefined ? null : (anchor: HTMLElement) => world.openMention(mention, anchor);
  const concernsMe = world.concernsMe(mention);
  const { Mention: Own } = useContext(ComponentsContext);
  if (Own) {
    const { kind, id, isSilent } = mention;
    return <Own kind={kind} id={id} text={text} isSilent={isSilent} concernsMe={concernsMe} open={open} />;
  }
  const mark = !mention.isSilent && concernsMe ? styles.mentionOfMe : styles.mention;
  if (open === null)
    return (
      <span className={mark} part="mention">
        {text}
      </span>
    );
  return (
    <button
      type="button"
      className={mark}
      part="mention"
      aria-haspopup="dialog"
      onClick={({ currentTarget }) => open(currentTarget)}
    >
      {text}
    </button>
  );
}

function Time({ date, text }: { date: Date; text: string }) {
  return (
    <time className={styles.time} dateTime={date.toISOString()} title={text}>
      {useWorld().formatTime(date)}
    </time>
  );
}

function Code({ node }: { node: CodeNode }) {
  const { CodeBlock: Own } = useContext(ComponentsContext);
  const { text, language, tokens } = node;
  return Own ? <Own text={text} language={language} tokens={tokens} /> : <UsualCode node={node} />;
}

function UsualCode({ node }: { node: CodeNode }) {
  const parts = useRareParts(true);
  return (
    <div className={styles.code} part="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, which needs the keyboard. */}
      <pre tabIndex={0}>
        <code>
          {node.tokens.map(({ kind, text }, index) =>
            kind === '' ? (
              text
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: tokens never change places.
              <span key={index} data-token={kind}>
                {text}
              </span>
            ),
          )}
        </code>
      </pre>
      {parts && <parts.CodeTools node={node} />}
    </div>
  );
}

function Spoiler({ header, nodes }: { header: readonly ContentNode[]; nodes: readonly ContentNode[] }) {
  const { i18n } = useLingui();
  const isEmpty = header.every((node) => typeof node === 'string' && node.trim() === '');
  return (
    <details className={styles.spoiler} dir="auto">
      <summary>{isEmpty ? i18n._('Spoiler') : drawAll(header)}</summary>
      {drawAll(nodes)}
    </details>
  );
}

type RareParts = typeof import('./rare-parts.js');

export const loadRareParts = (): Promise<RareParts> => import('./rare-parts.js');

/** Code of rarely used message parts; null until loaded, or if not needed. */
const useRareParts = (isWanted: boolean): RareParts | null => useLoaded(loadRareParts, isWanted);

const loadFormulas = () => Promise.all([loadRareParts(), import('katex/dist/katex.min.css')]);

function Formula({ node }: { node: MathNode }) {
  const [parts] = useLoaded(loadFormulas) ?? [];
  return parts ? <parts.Formula node={node} /> : <span data-pending>{node.source}</span>;
}

function Embed({ element }: { readonly element: Element }) {
  const parts = useRareParts(true);
  const { baseUrl, linkTarget } = useWorld();
  return (
    <div className={styles.embed} data-pending={!parts || undefined}>
      {parts && <parts.PagePreview element={element} baseUrl={baseUrl} linkTarget={linkTarget} />}
    </div>
  );
}

const PREVIEW_WIDTH = 360;
const PREVIEW_HEIGHT = 240;

interface ForeignProps {
  readonly url: string;
  /** True for a streamed file. With passed tokens, the whole file is fetched. */
  readonly isStreamed?: boolean;
  readonly children: ReactNode;
}

/** Loads files from other sites only on a click, because loading would reveal the user's IP address. */
function Foreign({ url, isStreamed = false, children }: ForeignProps) {
  const { baseUrl } = useWorld();
  const isFetched = useContext(ServicesContext)?.tokens !== undefined && isStreamed;
  const [isShown, setShown] = useState(url.startsWith(baseUrl) && !isFetched);
  const parts = useRareParts(!isShown);
  return isShown ? children : parts && <parts.Hidden url={url} onShow={() => setShown(true)} />;
}

function Player({ media }: { readonly media: PlayedNode }) {
  const parts = useRareParts(true);
  const openViewer = useViewer(media.src);
  return parts && <parts.Player media={media} openViewer={openViewer} />;
}

function Picture({ src, ...attributes }: ComponentProps<'img'> & { readonly src: string }) {
  // biome-ignore lint/a11y/useAltText: the caller passes it.
  return <img {...attributes} src={useFile(src) ?? undefined} loading="lazy" />;
}

/** Returns a click handler that opens the viewer; null without a viewer and for files from other sites. */
function useViewer(href: string): ((event: MouseEvent<HTMLElement>) => void) | null {
  const list = useContext(MediaContext);
  const { baseUrl } = useWorld();
  if (!list || !href.startsWith(baseUrl)) return null;
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const all = list();
    openOverlay(event.currentTarget, async () => {
      const { MediaViewer } = await import('./media-viewer.js');
      return <MediaViewer all={all} start={href} />;
    });
  };
}

function Image({ image }: { image: ImageNode }) {
  const { i18n } = useLingui();
  const viewer = useViewer(image.href);
  const openViewer = image.isVideoPreview ? null : viewer;
  const { Image: Own } = useContext(ComponentsContext);
  const [width, height] = image.size ?? [PREVIEW_WIDTH, PREVIEW_HEIGHT];
  const scale = Math.min(1, PREVIEW_WIDTH / width, PREVIEW_HEIGHT / height);
  const box = { width: Math.round(width * scale), height: Math.round(height * scale) };
  if (image.src === null) {
    return <span className={styles.loading} style={box} role="img" aria-label={i18n._('Image is being prepared')} />;
  }
  if (Own) {
    return (
      <Foreign url={image.src}>
        <Own src={image.src} href={image.href} title={image.title} {...box} />
      </Foreign>
    );
  }
  return (
    <Foreign url={image.src}>
      <a
        href={image.href}
        target="_blank"
        rel="noopener noreferrer"
        className={image.isBlock ? styles.media : undefined}
        data-media={openViewer ? '' : undefined}
        aria-haspopup={openViewer ? 'dialog' : undefined}
        onClick={openViewer ?? undefined}
      >
        <Picture src={image.src} alt={image.title} style={{ aspectRatio: width / height }} {...box} />
      </a>
    </Foreign>
  );
}
