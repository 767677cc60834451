/** Waits in lines, one of each client, of which each gives one in turn. However much one client has, another waits for one of its. */
export class FairQueue<T> {
  /** In the order of their turns; none is empty. */
  private readonly lines = new Map<string | number, T[]>();
  private count = 0;

  get length(): number {
    return this.count;
  }

  lengthOf(client: string | number): number {
    return this.lines.get(client)?.length ?? 0;
  }

  push(client: string | number, item: T): void {
    const line = this.lines.get(client);
    if (line) line.push(item);
    else this.lines.set(client, [item]);
    this.count++;
  }

  shift(): T | undefined {
    const [first] = this.lines;
    if (!first) return undefined;
    const [client, line] = first;
    const item = line.shift()!;
    this.lines.delete(client);
    if (line.length > 0) this.lines.set(client, line);
    this.count--;
    return item;
  }
}
