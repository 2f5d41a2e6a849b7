// Processes of this machine as the kernel lists them (Linux), to see what a process started and what is left of it.

import { readdirSync, readFileSync } from 'node:fs';

export interface Member {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Every process of the machine that has not ended. */
function processes(): Member[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return []; // ended meanwhile
      }
    });
}

/** A process and all that it started, ancestors first. */
export function familyOf(pid: number): Member[] {
  const all = processes();
  const family = all.filter((one) => one.pid === pid);
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid));
  return family;
}

export const isAlive = ({ pid, command }: Member) =>
  processes().some((one) => one.pid === pid && one.command === command);
