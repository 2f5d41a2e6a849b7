export function watchNpm(ended: () => void): () => void;
export function exitWithLauncher(): void;
