import { useLingui } from '@lingui/react';
import { File as FileIcon, RotateCcw, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from '../kit/icon-button.js';
import { sizeText } from '../kit/size-text.js';
import { useField } from '../services/context.js';
import { useRefusals } from '../services/failures.js';
import { reasonOf } from '../services/reasons.js';
import { MAX_FILES, type UploadPlace, type UploadRow } from '../services/uploads.js';
import { useReading } from '../services/use-reading.js';
import { useUploads } from '../services/use-uploads.js';
import styles from './upload-list.module.css';

/** Uploads of a conversation, with errors. */
export function UploadList({ destination }: { readonly destination: UploadPlace }) {
  const uploads = useUploads();
  const { i18n } = useLingui();
  const { rows } = useReading(uploads.of(destination));
  if (rows.length === 0) return null;
  return (
    <ul className={styles.list} aria-label={i18n._('Uploads')}>
      {rows.map((row) => (
        <li key={row.id} className={styles.row}>
          {row.state === 'failed' ? (
            <span className={styles.failure} role="alert">
              <NotUploaded row={row} />
            </span>
          ) : (
            <>
              <Thumbnail file={row.file} />
              <span className={styles.name}>{row.name}</span>
              <span className={styles.size}>{sizeText(i18n, row.file.size)}</span>
              {row.state === 'interrupted' && <span role="status">{i18n._('Waiting for the connection')}</span>}
              <progress
                className={styles.progress}
                aria-label={i18n._('Uploading {name}', { name: row.name })}
                value={row.progress}
              />
            </>
          )}
          {row.state === 'failed' && uploads.canRetry(row.id) && (
            <IconButton
              icon={RotateCcw}
              label={i18n._('Try {name} again', { name: row.name })}
              onClick={() => uploads.retry(destination, row.id)}
            />
          )}
          <IconButton
            icon={X}
            label={
              row.state === 'failed'
                ? i18n._('Remove {name}', { name: row.name })
                : i18n._('Cancel {name}', { name: row.name })
            }
            onClick={() => uploads.remove(destination, row.id)}
          />
        </li>
      ))}
    </ul>
  );
}

/** Picture of the file, or an icon. Scripts in SVG files run in no `img`. */
function Thumbnail({ file }: { readonly file: File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!file.type.startsWith('image/')) return;
    const own = URL.createObjectURL(file);
    setUrl(own);
    return () => URL.revokeObjectURL(own);
  }, [file]);
  return (
    <span className={styles.thumbnail}>
      {url === null ? <FileIcon size={18} aria-hidden /> : <img src={url} alt="" onError={() => setUrl(null)} />}
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
