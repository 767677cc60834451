import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { answerCalls } from './answer-calls.js';

export interface UploadCall {
  readonly port: number;
  readonly authorization: string;
  readonly bytes: number;
}

export interface DownloadCall {
  readonly port: number;
  readonly authorization: string;
  readonly path: string;
}

const agent = new Agent({ keepAlive: true });
const CHUNK = Buffer.alloc(256 * 1024, 'what is measured is how much, not what. ');
const START = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="large.txt"\r\n\r\n');
const END = Buffer.from('\r\n--b--\r\n');

let isStopped = false;

answerCalls({
  upload,
  download,
  /** Downloads files one after another until `stop`. */
  downloadOn: (call: DownloadCall) => {
    isStopped = false;
    void (async () => {
      while (!isStopped) await download(call);
    })();
  },
  uploadOn: (call: UploadCall) => {
    isStopped = false;
    void (async () => {
      while (!isStopped) await upload(call);
    })();
  },
  stop: () => {
    isStopped = true;
  },
});

/** Uploads a form and returns the file's path. */
function upload({ port, authorization, bytes }: UploadCall): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: authorization,
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': START.length + bytes + END.length,
    };
    const call = request({ agent, port, method: 'POST', path: '/api/v1/user_uploads', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(JSON.parse(text).url) : reject(new Error(text.slice(0, 300))),
      );
    });
    call.on('error', reject);
    call.write(START);
    let left = bytes;
    const send = (): void => {
      while (left > 0) {
        const chunk = left >= CHUNK.length ? CHUNK : CHUNK.subarray(0, left);
        left -= chunk.length;
        if (!call.write(chunk)) return void call.once('drain', send);
      }
      call.end(END);
    };
    send();
  });
}

/** Returns bytes per second. */
function download({ port, authorization, path }: DownloadCall): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let bytes = 0;
    const call = request({ agent, port, path, headers: { Authorization: authorization } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve((bytes / (performance.now() - startedAt)) * 1000));
    });
    call.on('error', reject);
    call.end();
  });
}
