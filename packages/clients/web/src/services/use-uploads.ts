import { useServices } from './context.js';
import { isOffline } from './failures.js';
import { retrying } from './loading.js';
import { Uploads } from './uploads.js';

/** Minimum size for resumable uploads; smaller files are sent in one request, and in parts after a connection loss. */
const RESUMABLE_FROM_BYTES = 5 * 1024 * 1024;

/** Returns the user's uploads. Large or interrupted ones resume where they stopped. */
export function useUploads(): Uploads {
  const { chat, client, uploads } = useServices();
  uploads.opened ??= new Uploads(
    async (file, options) => {
      if (file.size < RESUMABLE_FROM_BYTES) {
        try {
          return (await client.post('/user_uploads', { filename: file }, options)).url;
        } catch (error) {
          if (!isOffline(error)) throw error;
          options.onInterrupted?.();
        }
      }
      const { sendResumable } = await retrying(
        () => import('./resumable-upload.js'),
        () => !options.signal?.aborted,
      );
      return sendResumable(client, uploads.storageKey, file, options);
    },
    () => chat.state.fields.peek('max_file_upload_size_mib') ?? 0,
  );
  return uploads.opened;
}
