import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MAX_FILE_TEXT } from '@parley/domain/files';
import { loadOptional } from '@parley/domain/kernel';

const MAX_PAGES = 2000;
/** Time limit, checked between parts of the text. The text read until then is returned. */
const MAX_MS = 8000;
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;

/** Kills the process above the memory limit, because the library unpacks streams without a limit or a pause. */
const GUARD = `setInterval(() => {
  if (process.memoryUsage.rss() > ${MAX_MEMORY_BYTES}) process.kill(process.pid, 'SIGKILL');
}, 50);`;

/**
 * Returns the beginning of the text of a PDF file. Kills the process if the file exceeds the memory limit.
 * @throws MissingLibrary, and for damaged files and those with a password
 */
export async function readPdf(file: Uint8Array): Promise<string> {
  const { getDocumentProxy } = await loadOptional('unpdf', 'Reading PDF files', () => import('unpdf'));
  const guard = new Worker(GUARD, { eval: true });
  await once(guard, 'online');
  try {
    // The library takes ownership of the bytes and rejects Node's buffers, so it gets a copy.
    const pdf = await getDocumentProxy(new Uint8Array(file), {
      isEvalSupported: false,
      enableXfa: false,
      verbosity: 0,
    });
    try {
      return await textOf(pdf);
    } finally {
      await pdf.destroy();
    }
  } finally {
    await guard.terminate();
  }
}

type Pdf = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>;
type Page = Awaited<ReturnType<Pdf['getPage']>>;

async function textOf(pdf: Pdf): Promise<string> {
  const end = Date.now() + MAX_MS;
  let text = '';
  for (let number = 1; number <= Math.min(pdf.numPages, MAX_PAGES); number++) {
    const page = await pdf.getPage(number);
    for await (const part of partsOf(page)) {
      text += part;
      if (text.length >= MAX_FILE_TEXT || Date.now() > end) return text.slice(0, MAX_FILE_TEXT);
    }
    text += '\n';
    page.cleanup();
  }
  return text;
}

type Item = { readonly str: string; readonly hasEOL: boolean } | { readonly type: string };

async function* partsOf(page: Page): AsyncGenerator<string> {
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<{
    readonly items: readonly Item[];
  }>;
  try {
    for (let next = await reader.read(); next.value; next = await reader.read()) {
      yield next.value.items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
    }
  } finally {
    // The library requires a reason.
    await reader.cancel(new Error('enough text'));
  }
}
