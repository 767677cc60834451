/** Ids of damaged parts by their order in the file. Lines and other parts may change without changing these ids. */
export class DamageIds {
  private file = '';
  private count = 0;

  /** Files are read one after another. */
  next(file: string): string {
    if (file !== this.file) {
      this.file = file;
      this.count = 0;
    }
    return `${file}#${++this.count}`;
  }
}
