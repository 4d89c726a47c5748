"""No harness, version, upload, submission, slot, quota policy or admission stop changes without an event."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("submissions", "0002_guards_and_grants"), ("accounts", "0003_governed")]

    operations = [
        governed("submissions_harness", subject="harness"),
        governed("submissions_harnessversion", subject="harness_version"),
        governed("submissions_upload", subject="upload", besides=["verifying_since"]),
        # Who has the package in hand for the next minutes is a lease like any other.
        governed(
            "submissions_submission", subject="submission", besides=["check_lease", "check_lease_until"]
        ),
        governed("submissions_submissiontransition", subject="submission", id_column="submission_id"),
        governed("submissions_slot", subject="slot"),
        governed("submissions_quotapolicy", subject="task_set", id_column="task_set_id"),
        governed("submissions_admissionstop", subject="task_set", id_column="task_set_id"),
    ]
