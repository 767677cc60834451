import { useLingui } from '@lingui/react';
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { FileSize } from '../content/file-size.js';
import { File as FileIcon, RotateCcw, TextCursorInput, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import kit from '../kit/kit.module.css';
import { sizeText } from '../kit/size-text.js';
import { useField, useServices } from '../services/context.js';
import { useRefusals } from '../services/failures.js';
import { reasonOf } from '../services/reasons.js';
import { MAX_FILES, type UploadedFile, type UploadPlace, type UploadRow } from '../services/uploads.js';
import { useFile } from '../services/use-file.js';
import { useReading } from '../services/use-reading.js';
import { useUploads } from '../services/use-uploads.js';
import { splitContent } from './attached-files.js';
import styles from './upload-list.module.css';

interface Props {
  readonly destination: UploadPlace;
  /** Uploaded files of the message. */
  readonly files: readonly UploadedFile[];
  onRemove(file: UploadedFile): void;
  /** Moves the file into the text. */
  onInsert(file: UploadedFile): void;
  /** Takes the focus from the last removed file. */
  onEmpty(): void;
}

/** Files of a message and uploads of its conversation, with errors. */
export function UploadList({ destination, files, onRemove, onInsert, onEmpty }: Props) {
  const uploads = useUploads();
  const { i18n } = useLingui();
  const { rows } = useReading(uploads.of(destination));
  const [removed, setRemoved] = useState({ text: '', number: 0 });
  const removeButton = (name: string, remove: () => void) => (
    <IconButton
      icon={X}
      label={i18n._('Remove {name}', { name })}
      onClick={(event) => {
        focusNext(event, onEmpty);
        const text = `${name}: ${i18n._('Removed')}`;
        setRemoved(({ number }) => ({ text, number: number + 1 }));
        remove();
      }}
    />
  );
  const running = rows.filter(({ state }) => state !== 'failed');
  // The list may scroll.
  const last = useRef<HTMLLIElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new upload becomes visible.
  useEffect(() => {
    last.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [running.length]);
  return (
    <div>
      <span className={kit.hiddenText} aria-live="polite">
        {/* The key makes equal names announced again. */}
        <span key={removed.number}>{removed.text}</span>
      </span>
      {rows.map(
        (row) =>
          row.state === 'failed' && (
            <div key={row.id} className={styles.failed}>
              <span className={styles.failure} role="alert">
                <NotUploaded row={row} />
              </span>
              {uploads.canRetry(row.id) && (
                <IconButton
                  icon={RotateCcw}
                  label={i18n._('Try {name} again', { name: row.name })}
                  onClick={() => uploads.retry(destination, row.id)}
                />
              )}
              {removeButton(row.name, () => uploads.remove(destination, row.id))}
            </div>
          ),
      )}
      {running.length + files.length > 0 && (
        <ul className={styles.list} aria-label={i18n._('Uploads')}>
          {files.map((file) => (
            <li key={file.url} className={styles.row}>
              <Uploaded {...file} content={uploads.contentOf(file.url)} />
              <IconButton
                icon={TextCursorInput}
                label={i18n._('Move {name} into the text', { name: file.name })}
                onClick={() => onInsert(file)}
              />
              {removeButton(file.name, () => onRemove(file))}
            </li>
          ))}
          {running.map((row) => (
            <li key={row.id} className={styles.row} ref={last}>
              <Uploading row={row} />
              {removeButton(row.name, () => uploads.remove(destination, row.id))}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Text and listed files of an unsent message. */
export function UnsentContent({
  content,
  className,
}: {
  readonly content: string;
  readonly className: string | undefined;
}) {
  const { i18n } = useLingui();
  const uploads = useUploads();
  const { text, files } = splitContent(content);
  return (
    <>
      {text !== '' && <p className={className}>{text}</p>}
      {files.length > 0 && (
        <ul className={styles.list} data-unsent aria-label={i18n._('Uploads')}>
          {files.map((file) => (
            <li key={file.url} className={styles.row}>
              <Uploaded {...file} content={uploads.contentOf(file.url)} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Moves the focus from a row about to be removed to the same button of a neighbour. */
function focusNext({ currentTarget }: MouseEvent<HTMLButtonElement>, onEmpty: () => void): void {
  const row = currentTarget.parentElement!;
  const button = (row.nextElementSibling ?? row.previousElementSibling)?.querySelector<HTMLElement>(
    'button:last-of-type',
  );
  if (button) button.focus();
  else onEmpty();
}

interface NameProps {
  readonly name: string;
  readonly children?: ReactNode;
}

/** Name of a file, with details below. */
const Name = ({ name, children }: NameProps) => (
  <span className={styles.about}>
    <span className={styles.name} title={name} dir="auto">
      {name}
    </span>
    <span className={styles.details}>{children}</span>
  </span>
);

interface UploadedProps extends UploadedFile {
  /** Null for files that another page has uploaded. */
  readonly content: File | null;
}

function Uploaded({ name, url, content }: UploadedProps) {
  const { i18n } = useLingui();
  const { baseUrl } = useServices();
  return (
    <>
      {content ? <Thumbnail file={content} /> : <StoredThumbnail url={url} />}
      <Name name={name}>{content ? sizeText(i18n, content.size) : <FileSize url={`${baseUrl}${url.slice(1)}`} />}</Name>
    </>
  );
}

function Uploading({ row: { name, file, state, progress } }: { readonly row: UploadRow }) {
  const { i18n } = useLingui();
  return (
    <>
      <Thumbnail file={file} />
      <Name name={name}>
        {sizeText(i18n, file.size)}
        {state === 'interrupted' && <span role="status">{i18n._('Waiting for the connection')}</span>}
        <progress className={styles.progress} aria-label={i18n._('Uploading {name}', { name })} value={progress} />
      </Name>
    </>
  );
}

/** Picture of a chosen file, or an icon. */
function Thumbnail({ file }: { readonly file: File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!file.type.startsWith('image/')) return;
    const own = URL.createObjectURL(file);
    setUrl(own);
    return () => URL.revokeObjectURL(own);
  }, [file]);
  return <Picture src={url} />;
}

/** Picture of an uploaded file, or an icon. */
function StoredThumbnail({ url }: { readonly url: string }) {
  const { baseUrl } = useServices();
  const format = useField('server_thumbnail_formats')?.find(({ animated }) => !animated);
  // New files have no thumbnail yet.
  const [hasThumbnail, setHasThumbnail] = useState(true);
  const path = url.replace('/user_uploads/', '');
  const address = format && hasThumbnail ? `thumbnail/${path}/${format.name}` : path;
  return PICTURE.test(url) ? (
    <LoadedPicture url={`${baseUrl}user_uploads/${address}`} onError={() => setHasThumbnail(false)} />
  ) : (
    <Picture src={null} />
  );
}

/** Names of files for which servers make thumbnails. */
const PICTURE = /\.(a?png|avif|bmp|gif|heic|jpe?g|tiff?|webp)$/i;

interface LoadedProps {
  readonly url: string;
  onError(): void;
}

const LoadedPicture = ({ url, onError }: LoadedProps) => <Picture src={useFile(url, onError)} onError={onError} />;

interface PictureProps {
  readonly src: string | null;
  onError?(): void;
}

/** Scripts in SVG files run in no `img`. */
function Picture({ src, onError }: PictureProps) {
  const [broken, setBroken] = useState<string | null>(null);
  return (
    <span className={styles.thumbnail}>
      {src === null || src === broken ? (
        <FileIcon size={18} aria-hidden />
      ) : (
        <img
          src={src}
          alt=""
          onError={() => {
            setBroken(src);
            onError?.();
          }}
        />
      )}
    </span>
  );
}

function NotUploaded({ row: { name, failure } }: { readonly row: UploadRow }) {
  const { i18n } = useLingui();
  const max = useField('max_file_upload_size_mib') ?? 0;
  const refusalText = useRefusals(typeof failure !== 'string');
  const reasons = {
    empty: i18n._('The file is empty.'),
    'too-large': i18n._('The file is larger than {max} MiB.', { max }),
    'too-many': i18n._('At most {max} files at once.', { max: MAX_FILES }),
  };
  const reason = typeof failure === 'string' ? reasons[failure] : reasonOf(failure!, i18n, refusalText);
  return i18n._('{name} was not uploaded: {reason}', { name, reason });
}
