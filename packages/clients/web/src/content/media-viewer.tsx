import { Dialog as Base } from '@base-ui/react/dialog';
import { useLingui } from '@lingui/react';
import { type ComponentType, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ChevronLeft, ChevronRight, Download, X, ZoomIn, ZoomOut } from '../icons/icons.js';
import { useOverlay } from '../kit/overlay.js';
import { useFile } from '../services/use-file.js';
import type { Media } from './media.js';
import styles from './media-viewer.module.css';

interface Props {
  readonly all: readonly Media[];
  /** Original of the first file to show. */
  readonly start: string;
}

const STEP = 1.5;
const LARGEST = STEP ** 6;

/** Full-page viewer for the images, videos and sounds of a conversation. Only the current file is loaded. */
export function MediaViewer({ all, start }: Props) {
  const { container, close, finalFocus } = useOverlay();
  const [index, setIndex] = useState(() =>
    Math.max(
      0,
      all.findIndex(({ href }) => href === start),
    ),
  );
  const [zoom, setZoom] = useState(1);
  const popup = useRef<HTMLDivElement>(null);
  const media = all[index]!;
  const isImage = media.kind === 'image';
  const name = media.title || fileNameOf(media.href);
  const go = (to: number) => {
    if (to < 0 || to >= all.length) return;
    setIndex(to);
    setZoom(1);
    // Otherwise the focus would be lost with the enlarged image or with the hidden button at the end.
    const isAtEnd = to === 0 || to === all.length - 1;
    if (isAtEnd || !popup.current?.querySelector('button:focus')) popup.current?.focus();
  };
  const zoomTo = (to: number) => setZoom(Math.min(LARGEST, Math.max(1, to)));
  const onKeyDown = (event: KeyboardEvent) => {
    // Players handle keys themselves.
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).closest('video, audio')) return;
    const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? -1 : 1;
    const target = {
      // Arrow keys scroll an image larger than the page.
      ArrowLeft: zoom > 1 ? undefined : index - forward,
      ArrowRight: zoom > 1 ? undefined : index + forward,
      PageUp: index - 1,
      PageDown: index + 1,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    const scale = isImage ? { '+': zoom * STEP, '-': zoom / STEP, '0': 1 }[event.key] : undefined;
    if (target === undefined && scale === undefined) return;
    event.preventDefault();
    if (target !== undefined) go(target);
    if (scale !== undefined) zoomTo(scale);
  };
  return (
    <Base.Root open onOpenChange={(isOpen) => isOpen || close()}>
      <Base.Portal container={container}>
        <Base.Popup
          ref={popup}
          className={styles.viewer}
          part="dialog"
          tabIndex={-1}
          initialFocus={popup}
          finalFocus={finalFocus}
          onKeyDown={onKeyDown}
        >
          <Header media={media} name={name} position={{ index, count: all.length }} zoom={zoom} onZoom={zoomTo} />
          <div className={styles.frame}>
            <Shown key={media.href} media={media} name={name} zoom={zoom} onZoom={zoomTo} />
            {all.length > 1 && <PageButtons index={index} count={all.length} onGo={go} />}
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface HeaderProps {
  readonly media: Media;
  readonly name: string;
  readonly position: { readonly index: number; readonly count: number };
  readonly zoom: number;
  onZoom(zoom: number): void;
}

function Header({ media, name, position: { index, count }, zoom, onZoom }: HeaderProps) {
  const { i18n } = useLingui();
  return (
    <header className={styles.header}>
      <Base.Title className={styles.title}>{name}</Base.Title>
      <output className={styles.count}>{i18n._('{number} of {count}', { number: index + 1, count })}</output>
      {media.kind === 'image' && (
        <>
          <Tool icon={ZoomOut} label={i18n._('Zoom out')} isDisabled={zoom <= 1} onClick={() => onZoom(zoom / STEP)} />
          <Tool
            icon={ZoomIn}
            label={i18n._('Zoom in')}
            isDisabled={zoom >= LARGEST}
            onClick={() => onZoom(zoom * STEP)}
          />
        </>
      )}
      <a
        className={styles.button}
        href={media.href}
        download={name}
        aria-label={i18n._('Download {name}', { name })}
        title={i18n._('Download {name}', { name })}
      >
        <Download size={20} aria-hidden />
      </a>
      <Base.Close className={styles.button} aria-label={i18n._('Close')} title={i18n._('Close')}>
        <X size={20} aria-hidden />
      </Base.Close>
    </header>
  );
}

interface PageButtonsProps {
  readonly index: number;
  readonly count: number;
  onGo(index: number): void;
}

function PageButtons({ index, count, onGo }: PageButtonsProps) {
  const { i18n } = useLingui();
  return (
    <>
      <Tool
        icon={ChevronLeft}
        label={i18n._('Previous')}
        className={styles.previous}
        isDisabled={index === 0}
        onClick={() => onGo(index - 1)}
      />
      <Tool
        icon={ChevronRight}
        label={i18n._('Next')}
        className={styles.next}
        isDisabled={index === count - 1}
        onClick={() => onGo(index + 1)}
      />
    </>
  );
}

interface ToolProps {
  readonly icon: ComponentType<{ readonly size?: number }>;
  readonly label: string;
  readonly className?: string | undefined;
  readonly isDisabled: boolean;
  onClick(): void;
}

const Tool = ({ icon: Icon, label, className = '', isDisabled, onClick }: ToolProps) => (
  <button
    type="button"
    className={`${styles.button} ${className}`}
    aria-label={label}
    title={label}
    disabled={isDisabled}
    onClick={onClick}
  >
    <Icon size={20} />
  </button>
);

interface ShownProps {
  readonly media: Media;
  readonly name: string;
  readonly zoom: number;
  onZoom(zoom: number): void;
}

function Shown({ media: { kind, href, preview }, name, zoom, onZoom }: ShownProps) {
  const { i18n } = useLingui();
  const file = useFile(href);
  // Camera formats that browsers cannot display have a thumbnail.
  const [usesPreview, setUsesPreview] = useState(false);
  const fallback = useFile(preview ?? href);
  const src = usesPreview ? fallback : file;
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  const stage = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const fitted = useRef(0);
  // Keeps the center in place.
  useLayoutEffect(() => {
    const { current: frame } = stage;
    if (!frame || !image.current) return;
    image.current.style.width = '';
    if (zoom === 1) fitted.current = image.current.clientWidth;
    else image.current.style.width = `${fitted.current * zoom}px`;
    frame.scrollTo((frame.scrollWidth - frame.clientWidth) / 2, (frame.scrollHeight - frame.clientHeight) / 2);
  }, [zoom]);
  useEffect(() => {
    if (zoom > 1) stage.current?.focus({ preventScroll: true });
  }, [zoom]);
  if (state === 'failed') {
    return (
      <div className={styles.stage}>
        <p role="alert">{i18n._('{name} cannot be shown here. It can be downloaded.', { name })}</p>
      </div>
    );
  }
  const onError = () => (preview !== null && !usesPreview ? setUsesPreview(true) : setState('failed'));
  const onLoad = () => {
    fitted.current = image.current?.clientWidth ?? 0;
    setState('shown');
  };
  return (
    <div ref={stage} className={styles.stage} data-zoomed={zoom > 1 || undefined} tabIndex={zoom > 1 ? 0 : -1}>
      {kind === 'image' && src !== null && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys + and - of the viewer zoom.
        <img
          ref={image}
          src={src}
          alt={name}
          data-loaded={state === 'shown' || undefined}
          onLoad={onLoad}
          onError={onError}
          onClick={() => onZoom(zoom > 1 ? 1 : STEP ** 2)}
        />
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: uploads have no captions. */}
      {kind === 'video' && <video controls src={src ?? undefined} title={name} onError={onError} />}
      {/* biome-ignore lint/a11y/useMediaCaption: uploads have no captions. */}
      {kind === 'audio' && <audio controls src={src ?? undefined} title={name} onError={onError} />}
      {kind === 'image' && state === 'loading' && <p>{i18n._('Loading…')}</p>}
    </div>
  );
}

const fileNameOf = (href: string): string => decodeURIComponent(new URL(href).pathname.split('/').at(-1)!);
