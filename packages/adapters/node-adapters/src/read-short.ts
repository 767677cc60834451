/** Reads the body of another server's response up to a limit. @throws RangeError if it is longer */
export async function readShort(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError('The response of the other server is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
